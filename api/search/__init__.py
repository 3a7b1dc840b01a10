"""Serve the search over HTTP: the resource, the schemas and the page."""
