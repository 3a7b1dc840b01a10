"""Serve matches over HTTP: resource, schemas, live feed, pages."""
