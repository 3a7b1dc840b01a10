"""Serve the overview of the service as the home page and as JSON."""
