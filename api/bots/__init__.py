"""Serve bots over HTTP: the resource, the schemas, the fault reports and the pages."""
