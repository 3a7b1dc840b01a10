"""Serve the catalogue of games over HTTP: the resource, the schemas and the pages."""
