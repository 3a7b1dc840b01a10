"""Webhooks over HTTP: resource and schemas."""
