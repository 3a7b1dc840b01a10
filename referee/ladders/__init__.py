"""Ladders: the rating ledger, ranks, audit and repair."""
