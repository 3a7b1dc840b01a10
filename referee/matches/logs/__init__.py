"""Record, store, sign and delete the logs of matches."""
