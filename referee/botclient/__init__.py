"""Calls to bots over HTTP that a bot can neither delay, exhaust nor redirect."""
