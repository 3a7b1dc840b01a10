"""Serve bots over HTTP: resource, schemas, fault reports, pages."""
