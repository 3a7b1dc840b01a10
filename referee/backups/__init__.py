"""Back up the database of a service, and restore it."""
