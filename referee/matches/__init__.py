"""Matches: arranged, queued, claimed, recorded; their deal groups, logs and results."""
