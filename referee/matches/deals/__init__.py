"""Manage the deals that matches share: their openings, progress and reveals."""
