"""Manage ladders: the rating ledger, ranks, audit and repair."""
