"""Matches: arranged, claimed, written down while they are played, ended; their deal groups and logs."""
