"""Format the title, terms and progress of a tournament from the API as text."""

import json
from collections.abc import Sequence
from datetime import datetime

from referee.cli.plain_text import replace_control_characters
from referee.match.canonical import Json
from referee.matches.states import DealSharing


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
    """Return the non-empty terms of a tournament as pairs of a label and a text."""
    flags = ("late_entry", "frozen_version", "anonymous", "trusted")
    yes = [flag.replace("_", " ") for flag in flags if tournament.get(flag)]
    deals = tournament.get("deal_sharing") or DealSharing.OWN
    sizes = " and ".join(map(str, tournament.get("table_sizes") or [tournament["seats"]]))
    lines = [
        ("game", f"{tournament['game']}, {sizes} seats per table{format_options(tournament['options'])}"),
        (
            "format",
            f"{tournament['format']}, cycles {tournament['cycles']}{format_options(tournament.get('format_options'))}",
        ),
        ("deals", deals + (f", orders {tournament['orders']}" if deals == DealSharing.DUPLICATE else "")),
        ("rated", "yes, except matches with two bots of one owner" if tournament["rated"] else "no"),
        (
            "bots per owner",
            "any number" if tournament.get("bots_per_owner", 1000) >= 1000 else str(tournament["bots_per_owner"]),
        ),
        (
            "time",
            f"{tournament['time']['budget_ms']} ms per decision, {tournament['time']['bank_ms']} ms extra per match",
        ),
        ("substitute", tournament.get("substitute") or "none"),
        ("also", ", ".join(yes)),
        ("pace", f"a round every {minutes} minutes" if (minutes := tournament.get("round_minutes")) else ""),
        ("rounds begin", ", ".join(clock(time) for time in tournament.get("round_times") or ())),
        ("next round", clock(tournament["next_round_at"]) if tournament.get("next_round_at") else ""),
        ("entries", _entry_conditions(tournament)),
        ("prizes", replace_control_characters(tournament.get("prizes") or "")),
        ("contact", replace_control_characters(tournament.get("contact") or "")),
        ("link", replace_control_characters(tournament.get("link") or "")),
        ("starts", clock(tournament["starts_at"]) if tournament.get("starts_at") else ""),
        ("started", clock(tournament["started_at"]) if tournament["started_at"] else ""),
        ("ended", clock(tournament["finished_at"]) if tournament["finished_at"] else ""),
        ("reason", tournament.get("status_reason") or tournament.get("reason") or ""),
    ]
    return [(label, text) for label, text in lines if text]


def _entry_conditions(tournament: Json) -> str:
    """Return who may enter, like ``at most 20, with a join code, close 18:00:00``."""
    most, least, closing = (tournament.get(name) for name in ("max_entries", "min_entries", "entries_close_at"))
    parts = [
        f"at most {most}" if most else "",
        f"at least {least}" if least else "",
        "approved by the organiser" if tournament.get("approval") else "",
        "with a join code" if tournament.get("requires_code") else "",
        "by guests" if tournament.get("has_guests") else "",
        f"close {clock(closing)}" if closing else "",
        "" if tournament.get("listed", True) else "unlisted",
    ]
    return ", ".join(part for part in parts if part)


def format_options(options: Json | None) -> str:
    """Return options in the form of the command line, each preceded by a comma, like ``, best_of=3, rounds=null``."""
    return "".join(
        f", {name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in (options or {}).items()
    )


def lines(pairs: Sequence[tuple[str, str]]) -> str:
    """Return pairs of a label and a text as indented lines in two columns."""
    width = max((len(label) for label, _ in pairs), default=0)
    return "\n".join(f"  {label:<{width}}  {text}" for label, text in pairs)
