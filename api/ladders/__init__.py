"""Serve ladders over HTTP: the resource, the schemas, the stream and the pages."""
