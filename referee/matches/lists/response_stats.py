"""Compute a bot's response times and faults per version from the logs of its last matches."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.errors import BadLog
from referee.match.log import AnswerSource, parse_row
from referee.matches.logs import logs
from referee.matches.states import ENDED, DealGroupState
from referee.matches.tables import DealGroup, MatchLog, MatchSeat, ReportedError, StoredMatch

MAX_MATCHES: Final = 200  # most recent matches that are read, at about two milliseconds per log


@dataclass
class ResponsePeriod:
    """Sum up the matches of one version of a bot.

    ``first_at`` and ``last_at`` are the times at which the first and the last of them ended. ``ms`` has the response
    time to each question.
    """

    version: str | None
    first_at: datetime
    last_at: datetime
    matches: int = 0
    ms: list[int] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    errors: int = 0  # answers in which the bot reported an error of its own code


@dataclass(frozen=True, slots=True)
class TimedMatch:
    """Hold an ended match of the bot.

    ``answers`` has the milliseconds and the fault code ("" for none) of each answer.
    """

    match_id: str
    version: str | None
    finished_at: datetime
    answers: Sequence[tuple[int, str]]
    errors: int = 0


def load_last_matches(session: Session, bot_id: str, before: Sequence[TimedMatch] = ()) -> Sequence[TimedMatch]:
    """Return the last ``MAX_MATCHES`` ended matches of a bot in closed deal groups, newest first.

    ``before`` is an earlier return value; the logs of its matches are not read again. A match with a damaged log has no
    answers.
    """
    query = (
        select(StoredMatch.id, MatchSeat.seat, MatchSeat.version, StoredMatch.finished_at, ReportedError.errors)
        .join(MatchSeat, MatchSeat.match_id == StoredMatch.id)
        .join(DealGroup, DealGroup.id == StoredMatch.group_id)
        .join(MatchLog, MatchLog.match_id == StoredMatch.id)  # excludes matches that ended before their first row
        .outerjoin(
            ReportedError, (ReportedError.match_id == MatchSeat.match_id) & (ReportedError.seat == MatchSeat.seat)
        )
        .where(MatchSeat.bot_id == bot_id, StoredMatch.status.in_(ENDED), DealGroup.state == DealGroupState.REVEALED)
        .where(StoredMatch.finished_at.is_not(None), StoredMatch.log_deleted_at.is_(None))
        .order_by(StoredMatch.finished_at.desc(), MatchSeat.match_id, MatchSeat.seat)
        .limit(MAX_MATCHES)
    )
    found = session.execute(query).all()
    known = {match.match_id: match for match in before}
    if before and [row.id for row in found] == [match.match_id for match in before]:
        return before
    return [known.get(row.id) or _read_match(session, row) for row in found]


def _read_match(session: Session, row: Any) -> TimedMatch:
    answers = tuple(_answers(_log_lines(session, row.id), row.seat))
    return TimedMatch(row.id, row.version, row.finished_at, answers, row.errors or 0)


def group_by_version(played: Sequence[TimedMatch]) -> list[ResponsePeriod]:
    """Group matches by version. Return the groups, the latest first."""
    found: dict[str | None, ResponsePeriod] = {}
    for match in played:
        new = ResponsePeriod(match.version, match.finished_at, match.finished_at)
        stretch = found.setdefault(match.version, new)
        stretch.first_at = min(stretch.first_at, match.finished_at)
        stretch.last_at = max(stretch.last_at, match.finished_at)
        stretch.matches += 1
        stretch.ms += [ms for ms, _ in match.answers]
        stretch.errors += match.errors
        stretch.faults.update(fault for _, fault in match.answers if fault)
    return sorted(found.values(), key=lambda stretch: stretch.last_at, reverse=True)


def _log_lines(session: Session, match_id: str) -> list[bytes]:
    try:
        return logs.log_lines(session, match_id)
    except BadLog:
        return []


def _answers(lines: Sequence[bytes], seat: int) -> Iterator[tuple[int, str]]:
    """Yield the milliseconds and the fault code ("" for none) of each question that was sent to the seat.

    No questions are sent for forced moves or to retired seats.
    """
    for line in lines:
        if b'"type":"decision"' in line:
            row = parse_row(line)
            if row["seat"] == seat and row["source"] != AnswerSource.FORCED and not row.get("retired"):
                yield row["ms"], row.get("fault", "")
