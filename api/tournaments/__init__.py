"""Serve tournaments over HTTP: resources, schemas, stream, pages."""
