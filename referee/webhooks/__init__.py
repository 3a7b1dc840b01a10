"""Manage webhooks: subscriptions of owners, the outbox, and deliveries."""
