"""Values as people read them: numbers with their units, moments, names of games and states."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

MINUS: Final = "\N{MINUS SIGN}"
THIN_SPACE: Final = "\N{NARROW NO-BREAK SPACE}"
STATES: Final = {
    "draft": "draft",
    "open": "open for entries",
    "running": "running",
    "paused": "paused",
    "finished": "finished",
    "cancelled": "cancelled",
    "waiting": "waiting",
    "due": "about to start",
    "stuck": "stuck",
    "void": "void",
    "verified": "verified",
    "unverified": "not verified",
    "retired": "retired",
    "house": "house player",
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


def state(word: str) -> str:
    """A state of a match, event or bot, in words."""
    return STATES.get(word, word)


def rated_label(match: Mapping[str, Any]) -> str:
    """Return a label that says whether a match (of the API) is rated or why not. home.js has the same labels."""
    if match["rated"]:
        return "rated"
    code = str(match["unrated_reason"])
    return code if code == "friendly" else f"unrated: {code.replace('_', ' ')}"


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
    "state": state,
    "options_in_words": options_in_words,
    "rated_label": rated_label,
}
