"""Serve accounts over HTTP: the resource, the schemas and the page."""
