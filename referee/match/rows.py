"""Rows of a match log as bytes, each linked to the one before. What the rows say belongs to match and matchlog."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from referee.games.state import Event, Seat, State
from referee.match.canonical import Json, dumps


class Log:
    """A growing log: ``rows`` as objects, ``lines`` as stored (no line ends)."""

    def __init__(self) -> None:
        self.rows: list[Json] = []
        self.lines: list[bytes] = []

    def append(self, kind: str, **members: Any) -> Json:
        """Adds a row with its number and its link and gives it back."""
        row = link_row(kind, members, len(self.lines), self.lines[-1] if self.lines else None)
        self.rows.append(row)
        self.lines.append(dumps(row))
        return row


def link_row(kind: str, members: Json, number: int, line_before: bytes | None) -> Json:
    """A row that carries the hash of the line before it, or null when it is the first."""
    return {"type": kind, "row": number, "prev": line_before and digest(line_before), **members}


def digest(line: bytes) -> str:
    """Lower-case hex SHA-256 of a row's bytes as stored."""
    return hashlib.sha256(line).hexdigest()


def parse_row(line: bytes) -> Json:
    """The row of a stored line; raises ``ValueError`` when it is no JSON object."""
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("a row must be a JSON object")
    return row


def visible_events(game: type[State], events: Sequence[Event], viewer: Seat | None, options: Json) -> list[Event]:
    """The events of a match as a seat, or the public (None), may read them before the deal group is over.

    Every page, stream, download and question to a bot takes its events from here.
    """
    return game.visible_events(events, viewer, options)
