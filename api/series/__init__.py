"""Serve series of tournaments over HTTP and as pages."""
