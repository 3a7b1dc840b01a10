"""Serve ladders over HTTP: resource, schemas, stream, pages."""
