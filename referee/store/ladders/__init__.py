"""Ladders: the ledger they are the fold of, places, void results, audit and repair."""
