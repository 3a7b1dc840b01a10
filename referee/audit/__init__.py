"""Audit what follows from logs and ledgers: in the database, and from outside with public files."""
