"""Manage tournaments: their terms, entries, rounds, progress and standings."""
