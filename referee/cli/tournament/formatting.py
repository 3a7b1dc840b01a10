"""An event in words: its terms, how far it is, its table. From what the API shows, for the terminal and for pipes."""

import json
from collections.abc import Sequence
from datetime import datetime

from referee.match.canonical import Json

OVER = ("finished", "cancelled")


def clock(moment: str | None) -> str:
    """A moment of the API in the time of this machine; the day only where it is not today."""
    if moment is None:
        return "-"
    local = datetime.fromisoformat(moment).astimezone()
    today = datetime.now(local.tzinfo).date() == local.date()
    return local.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M")


def progress(event: Json) -> str:
    """``running, stage 2 of 5: 12 of 40 matches, ends about 18:22:10``."""
    so_far = event["progress"]
    where = event["status"]
    if so_far.get("stage"):
        where += f", stage {so_far['stage']}"
    matches = f"{so_far['done']} of {so_far['total']} matches"
    if event["format"] == "ladder":
        matches = f"{so_far['done']} matches"
    end = so_far.get("estimated_end")
    return f"{where}: {matches}" + (f", ends about {clock(end)}" if end else "")


def title(event: Json) -> str:
    return f"{event['name']}: {event['game']}, {event['seats']} seats, {event['format'].replace('_', ' ')}"


def terms(event: Json) -> list[tuple[str, str]]:
    """What was announced, line by line."""
    yes = [word.replace("_", " ") for word in ("late_entry", "frozen_version", "trusted") if event.get(word)]
    deals = event.get("deal_sharing") or "own"
    lines = [
        ("game", f"{event['game']}, {event['seats']} seats a table{format_options(event['options'])}"),
        ("format", f"{event['format']}, cycles {event['cycles']}{format_options(event.get('format_options'))}"),
        ("deals", deals + (f", orders {event['orders']}" if deals == "duplicate" else "")),
        ("rated", "yes, except matches with two bots of one owner" if event["rated"] else "no"),
        ("time", f"{event['time']['budget_ms']} ms a decision, {event['time']['bank_ms']} ms a match besides"),
        ("substitute", f"house:{event['substitute']}" if event.get("substitute") else "none"),
        ("also", ", ".join(yes)),
        ("starts", clock(event["starts_at"]) if event.get("starts_at") else ""),
        ("started", clock(event["started_at"]) if event["started_at"] else ""),
        ("ended", clock(event["finished_at"]) if event["finished_at"] else ""),
        ("reason", event.get("status_reason") or event.get("reason") or ""),
    ]
    return [(word, text) for word, text in lines if text]


def format_options(options: Json | None) -> str:
    """Options as they are typed: ``, rounds=3, stages=null``."""
    return "".join(
        f", {name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in (options or {}).items()
    )


def lines(pairs: Sequence[tuple[str, str]]) -> str:
    """Words with what they stand for, one under the other."""
    width = max((len(word) for word, _ in pairs), default=0)
    return "\n".join(f"  {word:<{width}}  {text}" for word, text in pairs)
