"""Run the service: supervisor, processes, data directory and embedded Redis."""
