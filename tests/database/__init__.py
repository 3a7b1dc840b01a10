"""Databases of tests, on SQLite and PostgreSQL, and what fills them."""
