"""Serve the catalogue of games over HTTP: resource, schemas, pages."""
