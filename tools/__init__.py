"""Provide programs for developers of Referee: mutation testing, chaos campaigns and simulated tournaments."""
