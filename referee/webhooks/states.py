"""Define the states of webhooks and of their deliveries. The values are stored and shown by the API."""

from enum import StrEnum


class WebhookState(StrEnum):
    UNVERIFIED = "unverified"
    ACTIVE = "active"
    DISABLED = "disabled"


class DeliveryState(StrEnum):
    DUE = "due"
    DELIVERED = "delivered"
    FAILED = "failed"
