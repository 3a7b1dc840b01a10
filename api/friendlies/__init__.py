"""Serve the rules and requests of friendlies over HTTP: the resources and the schemas."""
