"""A finished match, taken from its log back to one of its decisions. What is done there is left to the commands."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import click

from referee.cli.log_files import lines_of
from referee.cli.tournament.lookup import ID
from referee.cli.tournament.remote import Remote
from referee.errors import RefereeError
from referee.games.state import Seat
from referee.match import replay
from referee.match.canonical import Json
from referee.match.log import HEADER_MEMBERS, verify
from referee.match.match import Match
from referee.match.rows import parsed

DECISION = re.compile(r"(?:mat_[0-9a-z]{26}_)?([0-9]{1,6})(?:_([0-9]{1,2}))?", re.ASCII)


class NotRecalled(RefereeError):
    """A log that does not hold, or keeps its cards to itself."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A log that holds, with its reveal. ``rows`` are all, the reveal being the last."""

    header: Json
    rows: Sequence[Json]

    @classmethod
    def read(cls, remote: Remote, source: str) -> Self:
        """Read a log from a file or URL as ``lines_of`` does, or from the service by the id of its match. Raise
        ``NotRecalled``, and any error that reading raises."""
        if ID.fullmatch(source):
            lines = remote.api.fetch(f"/api/v1/matches/{source}/log").splitlines()
        else:
            lines = lines_of(source)
        report = verify(lines)
        if not report.ok:
            raise NotRecalled(f"{source} does not hold: row {report.row}: {report.reason}")
        if not report.revealed:
            raise NotRecalled(f"{source}: its seed is not out yet")
        rows = [parsed(line) for line in lines]
        return cls({name: rows[0][name] for name in HEADER_MEMBERS}, rows)

    @property
    def seed(self) -> bytes:
        return bytes.fromhex(self.rows[-1]["seed"])

    def at(self, n: int, header: Json | None = None) -> Match:
        """The match as it stood when decision point ``n`` was asked, played under another header if one is given.

        The chance to come follows from the revealed seed. Raises ``BadOption`` where nobody was asked.
        """
        return replay.at(self.rows, header or self.header, n)

    def answer(self, n: int, seat: Seat) -> Json:
        """The row of what was answered."""
        return next(row for row in self.rows if row["type"] == "decision" and (row["n"], row["seat"]) == (n, seat))


class Decision(click.ParamType[tuple[int, Seat | None]]):
    """A decision point by its number ``n`` in the log, or a question by its id (``mat_…_N_SEAT``)."""

    name = "DECISION"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, Seat | None]:
        found = DECISION.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no decision; give its number n in the log, or its id", param, ctx)
        return int(found[1]), None if found[2] is None else int(found[2])
