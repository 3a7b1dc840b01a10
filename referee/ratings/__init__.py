"""Compute ratings from results: Elo, the joint fit of all strengths, and sequential tests."""
