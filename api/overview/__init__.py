"""Serve the overview of the service: the home page, the overview as JSON, and its stream."""
