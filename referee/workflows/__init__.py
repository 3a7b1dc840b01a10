"""Run transactions and queries that span areas: ending and voiding matches, retirement, visibility, waiting."""
