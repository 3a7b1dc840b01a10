"""Ladders over HTTP: resource, schemas, stream, pages."""
