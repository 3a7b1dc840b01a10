"""Serve tournaments over HTTP: the resources, the schemas, the stream and the pages."""
