"""Serve webhooks over HTTP: the resource and the schemas."""
