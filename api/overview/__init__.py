"""Serve the overview of the service as the home page, as JSON and as a stream."""
