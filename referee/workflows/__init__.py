"""Transactions and queries that span areas: ends of matches, voiding, retirement, what may be seen, why a bot waits."""
