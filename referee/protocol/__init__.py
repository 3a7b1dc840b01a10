"""The bot protocol: messages, strict JSON, signatures and what each fault means."""
