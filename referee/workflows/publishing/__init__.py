"""Decide what is public, and find it."""
