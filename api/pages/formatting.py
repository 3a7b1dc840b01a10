"""Values as people read them: numbers with their units, moments, names of games."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from referee.labels import STATES, rated_label, state_label
from referee.workflows.unrated import UNRATED

MINUS: Final = "\N{MINUS SIGN}"
THIN_SPACE: Final = "\N{NARROW NO-BREAK SPACE}"

LABELS: Final = {  # for scripts
    "states": dict(STATES),
    "unrated": {code: rated_label({"rated": False, "unrated_reason": code}) for code in UNRATED},
}


def game_name(name: str) -> str:
    """``pool-nap`` as Pool Nap."""
    return name.replace("-", " ").title()


def count(number: int) -> str:
    """A whole number, its thousands set apart."""
    return f"{number:,}".replace(",", THIN_SPACE).replace("-", MINUS)


def decimal(number: float, digits: int = 1) -> str:
    return f"{number:,.{digits}f}".replace(",", THIN_SPACE).replace("-", MINUS)


def format_signed(number: float, digits: int = 0) -> str:
    """With its sign, zero without one."""
    seen = round(number, digits) + 0.0  # what is shown as zero is zero, and has no sign
    text = decimal(seen, digits)
    return f"+{text}" if seen > 0 else text


def percent(share: float, digits: int = 1) -> str:
    """A share of one in percent."""
    return f"{decimal(100 * share, digits)}{THIN_SPACE}%"


def milliseconds(ms: float | None) -> str:
    """A time in the unit people would use for it; a dash for none."""
    if ms is None:
        return "–"
    if ms < 1_000:
        return f"{decimal(ms, 0 if ms >= 10 else 1)}{THIN_SPACE}ms"
    return f"{decimal(ms / 1_000, 1)}{THIN_SPACE}s"


def size(size_bytes: int) -> str:
    """A size of a file as people read it."""
    for unit, least in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if size_bytes >= least:
            return f"{decimal(size_bytes / least, 1)} {unit}"
    return f"{size_bytes} bytes"


def moment(at: datetime | str) -> str:
    """To the minute, in UTC; the page's script makes it local."""
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    at = at.astimezone(UTC) if at.tzinfo else at
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def instant(at: datetime | str) -> str:
    """RFC 3339, for ``datetime`` attributes."""
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def options_in_words(options: dict[str, Any]) -> str:
    """Options of a game on one line."""
    return ", ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in options.items())


def _value(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "none"
        case list():
            return " ".join(_value(one) for one in value)
    return str(value)


FILTERS: Final[dict[str, Callable[..., str]]] = {
    "game_name": game_name,
    "count": count,
    "decimal": decimal,
    "signed": format_signed,
    "percent": percent,
    "milliseconds": milliseconds,
    "moment": moment,
    "instant": instant,
    "state": state_label,
    "options_in_words": options_in_words,
    "rated_label": rated_label,
}
