"""Bots over HTTP: resource, schemas, fault reports, pages."""
