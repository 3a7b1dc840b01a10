"""Tournaments: terms, entries, rounds, progress and standings."""
