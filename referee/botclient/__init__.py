"""Call bots over HTTP. No bot can delay or redirect these calls, or use up the memory of this process."""
