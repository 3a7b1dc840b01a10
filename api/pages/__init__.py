"""Provide what the pages of all areas share: rendering, formatting, parameters, charts, static files, guides."""
