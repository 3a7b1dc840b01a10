"""Explain why a bot waits, and why a match is unrated."""
