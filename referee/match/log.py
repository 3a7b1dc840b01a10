"""Write and link the rows of a match log, reveal its seed at the end, and select the part that a viewer may read."""

import hashlib
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from referee.games import game
from referee.games.state import Event, Seat, State
from referee.match.canonical import Json, dumps, loads

HEADER_MEMBERS = {
    *("log_format", "match", "game", "rules_version", "engine_version", "options", "seats", "players", "time"),
    *("rated", "group"),
}


LINK_MEMBERS = ("type", "row", "prev")  # that every row has


class AnswerSource(StrEnum):
    """List the sources of the action of a decision."""

    BOT = "bot"
    DEFAULT = "default"  # the answer was a fault, or the seat is retired
    FORCED = "forced"  # no other action was legal, so the bot was not asked


# -- writing --


class Log:
    """Hold a growing log. ``rows`` are JSON objects; ``lines`` are their bytes as stored, without line ends."""

    def __init__(self) -> None:
        self.rows: list[Json] = []
        self.lines: list[bytes] = []

    def append(self, kind: str, **members: Any) -> Json:
        """Append a row with its number and the hash of the row before it. Return the row."""
        row = link_row(kind, members, len(self.lines), self.lines[-1] if self.lines else None)
        self.rows.append(row)
        self.lines.append(dumps(row))
        return row


def link_row(kind: str, members: Json, number: int, line_before: bytes | None) -> Json:
    """Return a row with its number and the hash of the row before it, which is null in the first row."""
    return {"type": kind, "row": number, "prev": line_before and digest(line_before), **members}


def reveal_line(number: int, last_line: bytes, revealed: Json) -> bytes:
    """Return the last row of a closed log. ``revealed`` is ``Reveal.to_json`` of its deal group."""
    return dumps(link_row("reveal", revealed, number, last_line))


def digest(line: bytes) -> str:
    """Return the lower-case hex SHA-256 of a row's bytes as stored."""
    return hashlib.sha256(line).hexdigest()


# -- reading --


def find_broken_link(lines: Sequence[bytes]) -> int | None:
    """Return the number of the first row that does not follow from the row before it, or None if all rows do."""
    before: str | None = None
    for number, line in enumerate(lines):
        try:
            row = parse_row(line)
        except ValueError:
            return number
        if row.get("prev", ...) != before or row.get("row") != number:
            return number
        before = digest(line)
    return None


def parse_row(line: bytes) -> Json:
    """Return the row of a stored line. Raise ``ValueError`` unless it is a JSON object."""
    row = loads(line)
    if not isinstance(row, dict):
        raise ValueError("a row must be a JSON object")
    return row


def visible_events(game: type[State], events: Sequence[Event], viewer: Seat | None, options: Json) -> list[Event]:
    """Return the events that the seat ``viewer``, or the public if it is None, may read before the deal group is over.

    All pages, streams, downloads and questions to bots get their events from this function.
    """
    return game.visible_events(events, viewer, options)


def opens_round(row: Json, header: Json) -> bool:
    """Return whether this row begins a round or deal of the game, which means that the previous one is over."""
    opening = game(header["game"]).opening
    return any(event["event"] == opening for event in row.get("events", []))


class PublicView:
    """Represent a growing log as the public may read it before its deal group is over.

    ``items`` are the masked events of the rows added so far, each with a ``number`` that counts them from 0. How they
    are numbered and grouped in the log is not shown, because it reveals which moves were forced, and so what a seat
    holds (PR-16, RR-13).
    """

    def __init__(self, header: Json) -> None:
        self.items: list[Json] = []
        self._rules, self._options = game(header["game"]), header["options"]
        self._events: list[Event] = []

    def add(self, rows: Sequence[Json]) -> list[Json]:
        """Add the next rows of the log and return their items. Earlier items never change.

        If masking raises an error, the view is unchanged.
        """
        events = [*self._events, *(event for row in rows for event in row.get("events", []))]
        shown = len(self.items)
        new_events = visible_events(self._rules, events, None, self._options)[shown:]
        self._events = events
        items = [{"number": number, "event": event} for number, event in enumerate(new_events, shown)]
        self.items += items
        return items
