"""Call bots over HTTP. A bot can neither delay, exhaust nor redirect these calls."""
