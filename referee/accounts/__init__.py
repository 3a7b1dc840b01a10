"""Manage accounts and their tokens."""
