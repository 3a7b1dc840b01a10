"""Implement `referee match`, which shows a match of a service: its seats, their results and what it changed."""

from typing import Any

import click

from referee.cli.browser import open_option, open_page
from referee.cli.tables import TextTable, number
from referee.cli.tournament.remote import Remote, service_command
from referee.match.canonical import Json


@service_command()
@click.argument("match", metavar="MATCH")
@open_option
def match(remote: Remote, match: str, opens: bool) -> None:
    """Show a match: its seats, their results, and the change of each rating beside the expected score.

    \b
    Example:
      referee match mat_01j8z2k4p6r8t0v2x4y6a8c0e2
    """
    found = remote.api.get(f"/matches/{match}")
    remote.show(found, format_match(found))
    if opens:
        open_page(remote.page(f"matches/{found['id']}"))


def format_match(match: Json) -> str:
    """Return a match as text, with its ladder. Seats that do not count on a ladder have no rating."""
    heads = ["seat", "bot", "version", "rank", "returns", "rating", "change", "expected", "scored"]
    table = TextTable(heads, [_cells(seat) for seat in match["seats"]], title=f"{match['game']}, {match['status']}")
    if not match["rated"]:
        return f"{table.plain()}\nunrated: {match['unrated_reason']}"
    ladder = match["rated_on"]
    return f"{table.plain()}\nladder: {ladder['name']} ({ladder['id']})" if ladder else table.plain()


def _cells(seat: Json) -> list[str]:
    about = [str(seat["seat"] + 1), seat["name"] or "hidden until the match is over", seat["version"] or "-"]
    return [*about, number(seat["placement"]), number(seat["returns"]), *_rating_cells(seat["rating"])]


def _rating_cells(rating: dict[str, Any] | None) -> list[str]:
    if rating is None:
        return ["-"] * 4
    scores = (f"{rating['expected']:.2f}", f"{rating['scored']:.2f}")
    return [f"{rating['before']:.1f}", f"{rating['change']:+.1f}", *scores]
