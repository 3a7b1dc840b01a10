"""Serve webhooks over HTTP: resource and schemas."""
