"""Convert command-line arguments to values of the API: NAME=VALUE pairs and times."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from referee.match.canonical import Json

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def pair(text: str) -> tuple[str, Any]:
    """Split NAME=VALUE, and parse the value if it is JSON (a number, true, null).

    Any other value stays a text. Raise ``click.BadParameter`` without a name or ``=``.
    """
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE, like rounds=3.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def moment(text: str) -> str:
    """Convert a time in RFC 3339 with an offset, or a time from now like +10m, to RFC 3339 in UTC.

    Raise ``click.BadParameter`` for any other text.
    """
    ahead = re.fullmatch(r"\+([0-9]{1,6})([smhd])", text, re.ASCII)
    try:
        if ahead:
            time = datetime.now(UTC) + timedelta(**{UNITS[ahead[2]]: int(ahead[1])})
        else:
            time = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{text!r} is not a time. Pass one like 2030-05-01T18:00:00Z or +10m.") from None
    if time.tzinfo is None:
        raise click.BadParameter(f"{text!r} has no UTC offset. End it with Z for UTC, or with an offset like +02:00.")
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def as_object(pairs: tuple[tuple[str, Any], ...]) -> Json:
    """Return the pairs as an object. Raise ``click.UsageError`` if a name is given twice."""
    names = [name for name, _ in pairs]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise click.UsageError(f"Options given more than once: {', '.join(sorted(twice))}.")
    return dict(pairs)
