"""Delete what the service does not keep any longer, archive logs before, and measure the use of the disk."""
