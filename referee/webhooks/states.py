"""Define the types of notifications, and the states of webhooks and deliveries.

The values are stored in the database and shown by the API.
"""

from enum import StrEnum


class NotificationType(StrEnum):
    ACCOUNT_RECOVERED = "account.recovered"
    RECOVERY_CODE_MADE = "account.recovery_code_made"
    MATCH_FINISHED = "match.finished"
    BOT_UNHEALTHY = "bot.unhealthy"
    CERTIFICATE_LOST = "certificate.lost"
    FRIENDLY_REQUESTED = "friendly.requested"
    FRIENDLY_DECIDED = "friendly.decided"
    INVITATION_RECEIVED = "invitation.received"
    INVITATION_DECIDED = "invitation.decided"
    FRIENDLY_CANCELLED = "friendly.cancelled"
    TOURNAMENT_INVITED = "tournament.invited"
    TOURNAMENT_STARTED = "tournament.started"
    TOURNAMENT_HELD_UP = "tournament.held_up"
    TOURNAMENT_FINISHED = "tournament.finished"
    TOURNAMENT_CANCELLED = "tournament.cancelled"
    TOURNAMENT_CHANGED = "tournament.changed"
    TOURNAMENT_ENTERED = "tournament.entered"
    TOURNAMENT_ENTRY_DECIDED = "tournament.entry_decided"
    TOURNAMENT_DISQUALIFIED = "tournament.disqualified"
    PING = "ping"


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
