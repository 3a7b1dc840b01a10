"""Serve accounts over HTTP: resource, schemas, page."""
