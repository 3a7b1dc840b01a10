"""Comparison with engines and hand rankers of other projects. They need their own environment: ``make bench-peers``.

The rest of the project neither imports them nor needs them for its tests.
"""
