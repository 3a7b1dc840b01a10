"""Serve matches over HTTP: the resources, the schemas, the live feed and the pages."""
