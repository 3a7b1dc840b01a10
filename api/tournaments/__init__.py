"""Tournaments over HTTP: resources, schemas, stream, pages."""
