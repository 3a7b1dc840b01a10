"""Replay a finished match from its log up to one of its decisions, for commands that continue from there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import click

from referee.cli.service.log_files import read_single_log
from referee.cli.service.lookup import ID
from referee.cli.service.remote import Remote
from referee.errors import BadOption, RefereeError
from referee.games.state import Seat
from referee.match import replay
from referee.match.canonical import Json
from referee.match.log import HEADER_MEMBERS, parse_row
from referee.match.match import Match, answers_of
from referee.match.signature import split_signature
from referee.match.verification import verify

DECISION = re.compile(
    r"(?P<n>[0-9]{1,6})|(?:(?:mat|fork)_[0-9a-z]{26}_)?s(?P<seat>[0-9]{1,2})_q(?P<question>[0-9]{1,6})", re.ASCII
)


class NotReplayable(RefereeError):
    """Signal that a log is not valid or not yet revealed."""


class RecordedDecision(NamedTuple):
    """Identify a decision by its number in the log or, with a ``seat``, by the number of the question to this seat."""

    seat: Seat | None
    number: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the number ``n`` of a decision in the log, or the id of a question (``mat_…_sSEAT_qQUESTION``).

        Raise ``click.BadParameter`` for any other text.
        """
        found = DECISION.fullmatch(text)
        if found is None:
            raise click.BadParameter(
                f"{text!r} is not a decision. Pass its number n in the log, or the id of the question."
            )
        return cls(None, int(found["n"])) if found["n"] else cls(int(found["seat"]), int(found["question"]))


decision_argument = click.argument("decision", type=RecordedDecision.parse, metavar="DECISION")


@dataclass(frozen=True, slots=True)
class RecordedMatch:
    """Hold the ``header`` and all ``rows`` of a valid log. The last row is the reveal."""

    header: Json
    rows: Sequence[Json]

    @classmethod
    def read(cls, remote: Remote, source: str) -> Self:
        """Read a log from a file or URL, or from the service if ``source`` is the id of a match. Raise
        ``NotReplayable`` if the log is not valid or not revealed. Errors of reading it pass through."""
        if ID.fullmatch(source):
            lines, _ = split_signature(remote.api.fetch(f"/api/v1/matches/{source}/log").splitlines())
        else:
            lines = read_single_log(source)
        report = verify(lines)
        if not report.ok:
            raise NotReplayable(f"{source} is not a valid log: row {report.row}: {report.reason}")
        if not report.revealed:
            raise NotReplayable(
                f"{source} cannot be replayed: its seed is not revealed yet. Try again when the log is complete."
            )
        rows = [parse_row(line) for line in lines]
        return cls({name: rows[0][name] for name in HEADER_MEMBERS}, rows)

    def replay_to(self, n: int, header: Json | None = None) -> Match:
        """Return the match in its state at decision point ``n``. If ``header`` is given, it replaces that of the log.

        Later random outcomes follow from the revealed seed. Raise ``BadOption`` if nobody was asked at ``n``.
        """
        return replay.replay_to(self.rows, header or self.header, n)

    def locate(self, decision: RecordedDecision) -> tuple[int, Seat | None]:
        """Return the number of the decision point in the log, and the seat if ``decision`` names one, else None. Raise
        ``BadOption`` if the seat was asked fewer questions."""
        seat, number = decision
        if seat is None:
            return number, None
        answers = answers_of(self.rows, seat)
        if number >= len(answers):
            known = f"s{seat}_q0 to s{seat}_q{len(answers) - 1}" if answers else "none"  # ids count from 0
            reason = f"there is no question s{seat}_q{number}; questions to seat {seat + 1}: {known}"
            raise BadOption("DECISION", reason)
        return answers[number]["n"], seat

    def answer(self, n: int, seat: Seat) -> Json:
        """Return the row with the answer of ``seat`` at decision point ``n``."""
        return next(row for row in self.rows if row["type"] == "decision" and (row["n"], row["seat"]) == (n, seat))
