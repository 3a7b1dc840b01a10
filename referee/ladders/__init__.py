"""Ladders: the rating ledger, ranks, void results, audit and repair."""
