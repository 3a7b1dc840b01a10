"""One match without I/O: its coordinator, log, chance, time limits and replay."""
