"""Format values for people: numbers with units, times, names of games."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from referee.bots.states import BotState
from referee.errors import RefereeError
from referee.figures import THIN_SPACE, count, decimal, month_name
from referee.games import game, game_title
from referee.labels import STATES, rated_label, state_label
from referee.workflows.explaining.unrated import UNRATED_REASONS

LABELS: Final = {  # labels for scripts
    "states": {str(state): label for state, label in STATES.items()},
    "unrated": {code: rated_label({"rated": False, "unrated_reason": code}) for code in UNRATED_REASONS},
}

MATCH_REASONS: Final[Mapping[str, str]] = {
    "tournament_cancelled": "the tournament was cancelled",
    "bot_withdrawn": "a bot was withdrawn",
    "bot_paused": "a bot in it was paused",
}


def format_signed(number: float, digits: int = 0) -> str:
    """Return a number with its sign. A number that rounds to zero has no sign."""
    rounded = round(number, digits) + 0.0  # turns -0.0 into 0.0
    text = decimal(rounded, digits)
    return f"+{text}" if rounded > 0 else text


def percent(share: float, digits: int = 1) -> str:
    """Return a share, from 0 to 1, as a percentage."""
    return f"{decimal(100 * share, digits)}{THIN_SPACE}%"


def milliseconds(ms: float | None) -> str:
    """Return a duration in ms or s, or a dash for None."""
    if ms is None:
        return "–"
    if ms < 1_000:
        return f"{decimal(ms, 0 if ms >= 10 else 1)}{THIN_SPACE}ms"
    return f"{decimal(ms / 1_000, 1)}{THIN_SPACE}s"


def size(size_bytes: int) -> str:
    """Return a file size in bytes, kB, MB or GB."""
    for unit, least in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if size_bytes >= least:
            return f"{decimal(size_bytes / least, 1)} {unit}"
    return f"{size_bytes} bytes"


def moment(at: datetime | str) -> str:
    """Return a time to the minute, in UTC. A script of the page converts it to local time."""
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    at = at.astimezone(UTC) if at.tzinfo else at
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def instant(at: datetime | str) -> str:
    """Return a time in RFC 3339, for ``datetime`` attributes."""
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def options_in_sentences(options: Mapping[str, Any], name: str, seats: int) -> str:
    """Return what distinguishes the options of a match of this game from the default ones, in sentences."""
    try:
        sentences = game(name).describe_options(seats, options)
    except RefereeError:  # the rules no longer have this game or this number of seats
        return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in options.items())
    return " ".join(sentences) or "Standard options."


def bot_state(status: str, certified: Sequence[str]) -> str:
    """Return the label of a bot's state. A verified bot is certified for these games, or for none."""
    if status != BotState.VERIFIED:
        return state_label(status)
    return f"certified: {', '.join(map(game_title, certified))}" if certified else "not certified"


def match_reason(text: str | None) -> str:
    """Return why a match does not count: the label of a code of the service, else the text that a person wrote."""
    return MATCH_REASONS.get(text, text) if text else ""


FILTERS: Final[dict[str, Callable[..., str]]] = {
    "game_name": game_title,
    "count": count,
    "decimal": decimal,
    "month": month_name,
    "signed": format_signed,
    "percent": percent,
    "milliseconds": milliseconds,
    "moment": moment,
    "instant": instant,
    "state": state_label,
    "bot_state": bot_state,
    "options_in_sentences": options_in_sentences,
    "match_reason": match_reason,
    "rated_label": rated_label,
}
