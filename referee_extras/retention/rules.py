"""List what can be pruned, and for how long each kind is kept: a number of days, or forever. Settings say which."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from environs import Env

from referee import plugs
from referee.settings import BadSettings, Settings

MAX_DAYS: Final = 36_500
MIN_DAYS_OF_LOGS: Final = 7  # long enough to dispute a result
FOREVER_WORD: Final = "forever"
_DAYS: Final = re.compile(r"([0-9]{1,10}) ?days?")
_SOURCES: Final = "referee_extras.retention.sources"


class Kind(StrEnum):
    """List the kinds of data of the service that are pruned."""

    LADDER_LOGS = "ladder_logs"  # of matches that the service made on official ladders
    LOGS = "logs"
    FAULT_REPORTS = "fault_reports"
    TOKENS = "tokens"
    RESPONSES = "responses"  # stored for idempotency keys


@dataclass(frozen=True, slots=True)
class Keep:
    """Hold for how many ``days`` something is kept. None: forever."""

    days: int | None = None

    @property
    def age(self) -> timedelta | None:
        """Return the age up to which something is kept, or None if it has no limit."""
        return None if self.days is None else timedelta(days=self.days)

    def __str__(self) -> str:
        return FOREVER_WORD if self.days is None else f"{self.days} {'day' if self.days == 1 else 'days'}"


FOREVER: Final = Keep()
Rules = Mapping[str, Keep]  # by kind of data


@dataclass(frozen=True, slots=True)
class PrunedKind:
    """Describe a kind of data, of the service or of another extra. ``source`` names its ``Source`` for ``plugs.load``.

    A setting may say how long it is kept: at least ``min_days``.
    """

    source: str
    default: Keep = FOREVER
    min_days: int = 1


OWN: Final = {
    Kind.LADDER_LOGS: PrunedKind(f"{_SOURCES}:LADDER_LOGS", Keep(days=90), MIN_DAYS_OF_LOGS),
    Kind.LOGS: PrunedKind(f"{_SOURCES}:LOGS", min_days=MIN_DAYS_OF_LOGS),
    Kind.FAULT_REPORTS: PrunedKind(f"{_SOURCES}:FAULT_REPORTS", min_days=MIN_DAYS_OF_LOGS),
    Kind.TOKENS: PrunedKind(f"{_SOURCES}:TOKENS"),
    Kind.RESPONSES: PrunedKind(f"{_SOURCES}:RESPONSES", Keep(days=1)),  # no setting: the API promises 24 hours
}


def list_kinds() -> Mapping[str, PrunedKind]:
    """Return what is pruned, by the kind of data: that of the service, then what other extras offer."""
    offers = (plugs.load(extra.offers["retention"]) for extra in plugs.extras() if "retention" in extra.offers)
    return {**OWN, **{kind: offered for kinds in offers for kind, offered in kinds.items()}}


class RetentionSettings:
    """Read from the environment how long each kind of data is kept."""

    @staticmethod
    def defaults() -> dict[str, Any]:
        """Return the defaults of the settings, by name."""
        return {f"keep_{kind}": pruned.default for kind, pruned in list_kinds().items() if kind != Kind.RESPONSES}

    @staticmethod
    def load(env: Env) -> Rules:
        """Read the environment. Raise ``BadSettings`` if a variable says nothing that is possible."""
        return {kind: _keep(env, kind, pruned) for kind, pruned in list_kinds().items() if kind != Kind.RESPONSES}


def _keep(env: Env, kind: str, pruned: PrunedKind) -> Keep:
    name = f"KEEP_{kind.upper()}"
    try:
        return parse_keep(env.str(name, "") or str(pruned.default), min_days=pruned.min_days)
    except ValueError as error:
        raise BadSettings(f"REFEREE_{name}: {error}") from error


def parse_keep(text: str, *, min_days: int) -> Keep:
    """Return the limit in a text like ``forever`` or ``90 days``.

    Raise ``ValueError`` with a sentence for any other text, and for fewer days than ``min_days``.
    """
    if text.strip() == FOREVER_WORD:
        return FOREVER
    match = _DAYS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} does not say how long to keep; expected {FOREVER_WORD} or days, like 90 days.")
    days = int(match[1])
    if not min_days <= days <= MAX_DAYS:
        expected = f"{min_days} to {MAX_DAYS} days, or {FOREVER_WORD}"
        raise ValueError(f"{days} days is not possible here; expected {expected}.")
    return Keep(days)


def rules_of(settings: Settings) -> Rules:
    """Return what a service with these settings keeps, by kind."""
    kept: Rules = settings.of_extras.get("retention", {})
    return {kind: kept.get(kind, pruned.default) for kind, pruned in list_kinds().items()}
