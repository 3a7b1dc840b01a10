"""Ratings from results: Elo, the strengths of all bots at once, and sequential tests."""
