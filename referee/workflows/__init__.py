"""Run transactions and queries that span areas: ends of matches, voiding, retirement, visibility, waiting."""
