"""Matches: arranged, queued, claimed, recorded, finished; their deal groups, logs and visibility."""
