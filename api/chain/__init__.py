"""Signatures of logs: the public keys and the chain, as an API and as a page."""
