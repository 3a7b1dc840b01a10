"""Webhooks: subscriptions of owners, the outbox, and deliveries."""
