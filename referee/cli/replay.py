"""Replay a finished match from its log to one of its decisions, for the commands that continue from there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import click

from referee.cli.log_files import read_single_log
from referee.cli.tournament.lookup import ID
from referee.cli.tournament.remote import Remote
from referee.errors import BadOption, RefereeError
from referee.games.state import Seat
from referee.match import replay
from referee.match.canonical import Json
from referee.match.log import HEADER_MEMBERS, parse_row
from referee.match.match import Match, answers_of
from referee.match.verification import verify

NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
QUESTION_ID = re.compile(r"(?:(?:mat|fork)_[0-9a-z]{26}_)?s([0-9]{1,2})_q([0-9]{1,6})", re.ASCII)


class NotReplayable(RefereeError):
    """Raised for a log that is not valid or not yet revealed."""


@dataclass(frozen=True, slots=True)
class DecisionNumber:
    """A decision point by its number ``n`` in the log."""

    n: int


@dataclass(frozen=True, slots=True)
class QuestionId:
    """A question by its seat and its number among the questions of that seat."""

    seat: Seat
    question: int


@dataclass(frozen=True, slots=True)
class RecordedMatch:
    """A valid log with all its ``rows``; the last one is its reveal."""

    header: Json
    rows: Sequence[Json]

    @classmethod
    def read(cls, remote: Remote, source: str) -> Self:
        """Read a log from a file or URL as ``read_single_log`` does, or from the service by the id of its match. Raise
        ``NotReplayable``, and any error that reading raises."""
        if ID.fullmatch(source):
            lines = remote.api.fetch(f"/api/v1/matches/{source}/log").splitlines()
        else:
            lines = read_single_log(source)
        report = verify(lines)
        if not report.ok:
            raise NotReplayable(f"{source} is not valid: row {report.row}: {report.reason}")
        if not report.revealed:
            raise NotReplayable(f"{source}: its seed is not revealed yet")
        rows = [parse_row(line) for line in lines]
        return cls({name: rows[0][name] for name in HEADER_MEMBERS}, rows)

    @property
    def seed(self) -> bytes:
        return bytes.fromhex(self.rows[-1]["seed"])

    def replay_to(self, n: int, header: Json | None = None) -> Match:
        """Return the match as it stood when decision point ``n`` was asked, under another header if one is given.

        Later random outcomes follow from the revealed seed. Raise ``BadOption`` if nobody was asked at ``n``.
        """
        return replay.replay_to(self.rows, header or self.header, n)

    def locate(self, decision: DecisionNumber | QuestionId) -> tuple[int, Seat | None]:
        """Return the number of the decision point in the log, and the seat if a question was named. Raise ``BadOption``
        if the seat was asked fewer questions."""
        if isinstance(decision, DecisionNumber):
            return decision.n, None
        answers = answers_of(self.rows, decision.seat)
        if decision.question >= len(answers):
            raise BadOption("DECISION", _unknown_question(decision, len(answers)))
        return answers[decision.question]["n"], decision.seat

    def answer(self, n: int, seat: Seat) -> Json:
        """Return the row with the answer of ``seat`` at decision point ``n``."""
        return next(row for row in self.rows if row["type"] == "decision" and (row["n"], row["seat"]) == (n, seat))


def _unknown_question(decision: QuestionId, count: int) -> str:
    """Return a message that names the ids of the questions that the seat was asked. Ids count from 0."""
    ids = f"s{decision.seat}_q0 to s{decision.seat}_q{count - 1}" if count else "none"
    return f"there is no question s{decision.seat}_q{decision.question}; questions to seat {decision.seat + 1}: {ids}"


class RecordedDecision(click.ParamType[DecisionNumber | QuestionId]):
    """A decision point by its number ``n`` in the log, or a question by its id (``mat_…_sSEAT_qQUESTION``)."""

    name = "DECISION"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> DecisionNumber | QuestionId:
        if NUMBER.fullmatch(str(value)):
            return DecisionNumber(int(str(value)))
        found = QUESTION_ID.fullmatch(str(value))
        if found is None:
            reason = f"{value!r} is not a decision; pass its number n in the log, or the id of the question"
            self.fail(reason, param, ctx)
        return QuestionId(int(found[1]), int(found[2]))
