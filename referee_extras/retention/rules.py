"""List what can be pruned, and the limits of each kind, which are settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Final, Self

from environs import Env, ValidationError

from referee import plugs
from referee.settings import BadSettings, Settings
from referee_extras.retention.limits import FOREVER, MAX_DAYS, Keep, parse_keep

MIN_DAYS_OF_LOGS: Final = 7  # long enough to dispute a result


class Kind(StrEnum):
    """List the kinds of data of the service that are pruned."""

    LADDER_LOGS = "ladder_logs"  # of matches that the service made on official ladders
    LOGS = "logs"
    FAULT_REPORTS = "fault_reports"
    TOKENS = "tokens"
    RESPONSES = "responses"  # stored for idempotency keys


@dataclass(frozen=True, slots=True)
class Offered:
    """Describe a kind of data that another extra offers. ``source`` names its ``sources.Source`` for ``plugs.load``."""

    source: str
    default: Keep
    min_days: int = 1


def list_offered() -> Mapping[str, Offered]:
    """Return what other extras offer, by the kind of data."""
    offers = (plugs.load(extra.offers["retention"]) for extra in plugs.extras() if "retention" in extra.offers)
    return {kind: offered for kinds in offers for kind, offered in kinds.items()}


def list_kinds() -> list[str]:
    """Return the kinds of data that are pruned, those of other extras last."""
    return [*Kind, *list_offered()]


WITH_LOGS: Final = frozenset({Kind.LADDER_LOGS, Kind.LOGS})
Rules = Mapping[str, Keep]


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """Hold how long each kind of data is kept."""

    keep_ladder_logs_days: int = 90  # 0: forever
    keep_logs: Keep = FOREVER  # logs of all matches; what is never pruned is in ``sources``
    keep_fault_reports: Keep = FOREVER  # requests and replies of faults
    keep_tokens: Keep = FOREVER  # tokens that were revoked or have expired
    of_extras: Mapping[str, Keep] = field(default_factory=dict)  # by kind of data

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the defaults of the settings, by name."""
        own = {each.name: each.default for each in fields(cls) if each.name != "of_extras"}
        return own | {f"keep_{kind}": offered.default for kind, offered in list_offered().items()}

    @classmethod
    def load(cls, env: Env) -> Self:
        """Read the environment. Raise ``BadSettings`` if a variable says nothing that is possible."""
        return cls(
            keep_ladder_logs_days=env.int("KEEP_LADDER_LOGS_DAYS", 90, validate=_check_days_of_logs),
            keep_logs=_keep(env, "KEEP_LOGS", FOREVER, min_days=MIN_DAYS_OF_LOGS),
            keep_fault_reports=_keep(env, "KEEP_FAULT_REPORTS", FOREVER, min_days=MIN_DAYS_OF_LOGS),
            keep_tokens=_keep(env, "KEEP_TOKENS", FOREVER),
            of_extras={
                kind: _keep(env, f"KEEP_{kind.upper()}", offered.default, min_days=offered.min_days)
                for kind, offered in list_offered().items()
            },
        )


def _check_days_of_logs(days: int) -> None:
    if days and not MIN_DAYS_OF_LOGS <= days <= MAX_DAYS:
        raise ValidationError(f"Must be 0 (keep logs for good) or {MIN_DAYS_OF_LOGS} to {MAX_DAYS}.")


def _keep(env: Env, name: str, default: Keep, *, min_days: int = 1) -> Keep:
    try:
        return parse_keep(env.str(name, "") or str(default), min_days=min_days)
    except ValueError as error:
        raise BadSettings(f"REFEREE_{name}: {error}") from error


def rules_of(settings: Settings) -> Rules:
    """Return what a service with these settings keeps, by kind."""
    kept: RetentionSettings = settings.of_extras.get("retention", RetentionSettings())
    return {
        Kind.LADDER_LOGS: Keep(days=kept.keep_ladder_logs_days or None),
        Kind.LOGS: kept.keep_logs,
        Kind.FAULT_REPORTS: kept.keep_fault_reports,
        Kind.TOKENS: kept.keep_tokens,
        Kind.RESPONSES: Keep(days=1),  # the API promises 24 hours
        **{kind: kept.of_extras.get(kind, offered.default) for kind, offered in list_offered().items()},
    }
