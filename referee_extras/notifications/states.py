"""Define the kinds and states of webhooks and deliveries, which are stored and shown by the API."""

from enum import StrEnum


class WebhookKind(StrEnum):
    """List the formats of messages."""

    SIGNED = "signed"  # Standard Webhooks
    DISCORD = "discord"
    SLACK = "slack"


class WebhookState(StrEnum):
    UNVERIFIED = "unverified"
    ACTIVE = "active"
    DISABLED = "disabled"


class DeliveryState(StrEnum):
    DUE = "due"
    DELIVERED = "delivered"
    FAILED = "failed"
