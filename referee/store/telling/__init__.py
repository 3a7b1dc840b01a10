"""Webhooks: whom to tell, what is to be sent, and how often it was tried."""
