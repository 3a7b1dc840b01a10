"""Cancel matches and tournaments, void results, and play matches again."""
