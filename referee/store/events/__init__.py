"""Tournaments: their terms and entries, their stages carried on from the record, what standings are made of."""
