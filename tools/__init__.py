"""Programs for developers of Referee: mutation testing, chaos campaigns, simulated tournaments."""
