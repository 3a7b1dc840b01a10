"""Serve what operators see of pruning and of the use of the disk."""
