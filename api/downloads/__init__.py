"""Serve downloads of many logs and results as files."""
