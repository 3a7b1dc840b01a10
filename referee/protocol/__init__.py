"""Implement the bot protocol: messages, strict JSON, signatures and advice about faults."""
