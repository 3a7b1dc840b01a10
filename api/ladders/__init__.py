"""Serve ladders over HTTP: the resource, the schemas and the pages."""
