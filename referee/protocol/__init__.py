"""Implement the bot protocol: messages, strict JSON, signatures, aliases and advice about faults."""
