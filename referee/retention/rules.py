"""List what can be pruned, and the limits of each kind."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from referee.retention_limits import Keep
from referee.settings import Settings


class Kind(StrEnum):
    """List the kinds of data that are pruned."""

    LADDER_LOGS = "ladder_logs"  # of matches that the service made on official ladders
    LOGS = "logs"
    FAULT_REPORTS = "fault_reports"
    NOTIFICATIONS = "notifications"
    DELIVERIES = "deliveries"
    TOKENS = "tokens"
    RESPONSES = "responses"  # stored for idempotency keys


WITH_LOGS: Final = frozenset({Kind.LADDER_LOGS, Kind.LOGS})
Rules = Mapping[Kind, Keep]


def rules_of(settings: Settings) -> Rules:
    """Return what a service with these settings keeps, by kind."""
    return {
        Kind.LADDER_LOGS: Keep(days=settings.keep_ladder_logs_days or None),
        Kind.LOGS: settings.keep_logs,
        Kind.FAULT_REPORTS: settings.keep_fault_reports,
        Kind.NOTIFICATIONS: settings.keep_notifications,
        Kind.DELIVERIES: settings.keep_deliveries,
        Kind.TOKENS: settings.keep_tokens,
        Kind.RESPONSES: Keep(days=1),  # the API promises 24 hours
    }
