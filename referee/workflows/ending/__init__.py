"""Begin, resume and end matches: store logs and results, and close deal groups."""
