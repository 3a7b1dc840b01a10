"""List what can be pruned, and the limits of each kind."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from referee import plugs
from referee.plugs import Prunable
from referee.retention_limits import Keep
from referee.settings import Settings


class Kind(StrEnum):
    """List the kinds of data of the service that are pruned."""

    LADDER_LOGS = "ladder_logs"  # of matches that the service made on official ladders
    LOGS = "logs"
    FAULT_REPORTS = "fault_reports"
    TOKENS = "tokens"
    RESPONSES = "responses"  # stored for idempotency keys


WITH_LOGS: Final = frozenset({Kind.LADDER_LOGS, Kind.LOGS})
Rules = Mapping[str, Keep]


def rules_of(settings: Settings) -> Rules:
    """Return what a service with these settings keeps, by kind."""
    return {
        Kind.LADDER_LOGS: Keep(days=settings.keep_ladder_logs_days or None),
        Kind.LOGS: settings.keep_logs,
        Kind.FAULT_REPORTS: settings.keep_fault_reports,
        Kind.TOKENS: settings.keep_tokens,
        Kind.RESPONSES: Keep(days=1),  # the API promises 24 hours
        **{kind: getattr(settings, described.setting) for kind, described in list_prunable().items()},
    }


def list_prunable() -> Mapping[str, Prunable]:
    """Return the kinds of data that extras add."""
    added = (plugs.load(extra.prunable) for extra in plugs.extras() if extra.prunable is not None)
    return {kind: described for kinds in added for kind, described in kinds.items()}


def list_kinds() -> list[str]:
    """Return the kinds of data that are pruned, those of extras last."""
    return [*Kind, *list_prunable()]
