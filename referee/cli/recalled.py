"""A finished match, taken from its log back to one of its decisions. What is done there is left to the commands."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import click

from referee.canonical import Json
from referee.chance import CommittedChance
from referee.cli import logs
from referee.cli.tournament.finding import ID
from referee.cli.tournament.remote import Remote
from referee.errors import BadOption, RefereeError
from referee.games.state import Seat
from referee.match import Match, Request, is_answer
from referee.matchlog import HEADER_MEMBERS, verify
from referee.rows import parsed

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
        """From a file or a URL as ``logs.lines`` reads them, or by the id of a match of the service. Raises
        ``NotRecalled``, and what reading raises."""
        if ID.fullmatch(source):
            lines = remote.api.fetch(f"/api/v1/matches/{source}/log").splitlines()
        else:
            lines = logs.lines(source)
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
        match = Match(header or self.header, CommittedChance(self.seed, self.header["group"]["id"], self.nonces))
        match.begin()
        for number, row in enumerate(self.rows):
            if is_answer(row) and row["n"] < n:
                match.replay(number, row)
        if match.over or match.n != n:
            asked = sorted({row["n"] for row in self.rows if is_answer(row)})
            near = ", ".join(str(one) for one in sorted(asked, key=lambda one: abs(one - n))[:6])
            raise BadOption("DECISION", f"nobody was asked at {n}; the nearest that were: {near or 'none'}")
        return match

    @property
    def nonces(self) -> list[str]:
        return list(self.rows[-1]["nonces"])

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


def asked(match: Match, seat: Seat | None) -> Request:
    """The open question of this seat, or the only one. Raises ``BadOption``."""
    requests = {request.seat: request for request in match.requests()}
    there = ", ".join(map(str, requests))
    if seat is None:
        if len(requests) > 1:
            raise BadOption("--seat", f"several choose at once at {match.n}, say which: {there}")
        return next(iter(requests.values()))
    if seat not in requests:
        raise BadOption("--seat", f"seat {seat} was not asked at {match.n}, but {there}")
    return requests[seat]
