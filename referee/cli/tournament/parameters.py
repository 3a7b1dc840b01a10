"""Parameter types that convert command-line arguments to values of the API: NAME=VALUE pairs, times, seeds."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from referee.match.canonical import Json

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Pair(click.ParamType[tuple[str, Any]]):
    """NAME=VALUE, where a value that is JSON (a number, true, null) is parsed as such, and any other is text."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        name, sign, text = str(value).partition("=")
        if not sign or not name:
            self.fail(f"{value!r} is not of the form NAME=VALUE, like rounds=3", param, ctx)
        try:
            return name, json.loads(text)
        except ValueError:
            return name, text


class DateTimeParam(click.ParamType[str]):
    """A time in RFC 3339 with an offset, or a time from now like +10m, converted to RFC 3339 in UTC."""

    name = "MOMENT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        ahead = re.fullmatch(r"\+([0-9]{1,6})([smhd])", str(value), re.ASCII)
        try:
            if ahead:
                moment = datetime.now(UTC) + timedelta(**{UNITS[ahead[2]]: int(ahead[1])})
            else:
                moment = datetime.fromisoformat(str(value))
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a time; expected something like 2030-05-01T18:00:00Z or +10m", param, ctx)
        if moment.tzinfo is None:
            self.fail(f"{value!r} has no UTC offset; end it with Z for UTC, or with an offset like +02:00", param, ctx)
        return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class Seed(click.ParamType[tuple[str, int | None]]):
    """BOT=NUMBER, or BOT=- to seed the bot by its rating."""

    name = "BOT=NUMBER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int | None]:
        bot, _, text = str(value).rpartition("=")
        if not bot or not re.fullmatch("-|[0-9]{1,9}", text, re.ASCII):
            self.fail(f"{value!r} is not of the form BOT=NUMBER (or BOT=- for none)", param, ctx)
        return bot, None if text == "-" else int(text)


def as_object(pairs: tuple[tuple[str, Any], ...]) -> Json:
    """Return the pairs as an object; raise ``click.UsageError`` if a name is given twice."""
    names = [name for name, _ in pairs]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise click.UsageError(f"options given more than once: {', '.join(sorted(twice))}")
    return dict(pairs)
