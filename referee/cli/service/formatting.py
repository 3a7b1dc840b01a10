"""Format the title, terms and progress of a tournament from the API as text."""

import json
from collections.abc import Sequence
from datetime import datetime

from referee.cli.plain_text import replace_control_characters
from referee.match.canonical import Json
from referee.tournaments.term_words import describe_terms


def clock(moment: str | None) -> str:
    """Return an API timestamp with date and local time zone, like ``2030-05-01 18:00:00 CEST``, or a dash for None."""
    return "-" if moment is None else datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def progress(tournament: Json) -> str:
    """Return the progress as text like ``running, round 2: 12 of 40 matches, ends about 18:22:10``."""
    so_far = tournament["progress"]
    where = tournament["status"]
    if so_far.get("tournament_round"):
        where += f", round {so_far['tournament_round']}"
    end = so_far.get("estimated_end")
    ends = f", ends about {clock(end)}" if end else ""
    return f"{where}: {so_far['done']} of {so_far['total']} matches{ends}"


def title(tournament: Json) -> str:
    name, game, format = tournament["name"], tournament["game"], tournament["format"].replace("_", " ")
    return f"{name}: {game}, {tournament['seats']} seats, {format}"


def terms(tournament: Json) -> list[tuple[str, str]]:
    """Return the terms of a tournament and what became of it as pairs of a label and a text."""
    lines = [
        ("game", f"{tournament['game']}, {tournament['seats']} seats per table{format_options(tournament['options'])}"),
        *((label.lower(), _value_text(value)) for label, value, _ in describe_terms(tournament)),
        *((name, replace_control_characters(tournament[name] or "")) for name in ("prizes", "contact", "link")),
        ("entered by", "guests" if tournament["has_guests"] else ""),
        ("next round", _time(tournament["next_round_at"])),
        ("started", _time(tournament["started_at"])),
        ("ended", _time(tournament["finished_at"])),
        ("reason", tournament["status_reason"] or ""),
    ]
    return [(label, text) for label, text in lines if text]


def _time(moment: str | None) -> str:
    return clock(moment) if moment else ""


def _value_text(value: str | Sequence[datetime]) -> str:
    return value if isinstance(value, str) else ", ".join(clock(time.isoformat()) for time in value)


def format_options(options: Json | None) -> str:
    """Return options in the form of the command line, each preceded by a comma, like ``, best_of=3, rounds=null``."""
    return "".join(
        f", {name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in (options or {}).items()
    )


def lines(pairs: Sequence[tuple[str, str]]) -> str:
    """Return pairs of a label and a text as indented lines in two columns."""
    width = max((len(label) for label, _ in pairs), default=0)
    return "\n".join(f"  {label:<{width}}  {text}" for label, text in pairs)
