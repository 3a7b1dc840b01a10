"""Matches over HTTP: resource, schemas, live feed, pages."""
