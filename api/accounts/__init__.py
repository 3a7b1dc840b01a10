"""Accounts over HTTP: resource, schemas, page."""
