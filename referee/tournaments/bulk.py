"""Read all logs and all results of a tournament in pages, each in a short transaction of its own.

Logs come in the order in which matches ended, up to the first whose deal group is not over: so what is taken up again
after any of them is complete, also while the event goes on. Matches that were cut off have no place in that order;
their logs come last, once the event and all its deal groups are over.
"""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from referee.errors import BadLog, BadOption
from referee.matches import logs
from referee.matches.download_seats import DownloadSeat, seats_of
from referee.matches.tables import DealGroup, Match, MatchLog, Result
from referee.tournaments.tournaments import get_tournament
from referee.tournaments.watching import last_seq

PAGE: Final = 200
OVER: Final = ("finished", "cancelled")
ResultFilter = ColumnElement[bool]  # which results are read


@dataclass(frozen=True, slots=True)
class DownloadCursor:
    """How far logs were taken: after the result ``seq``, and, of matches that were cut off, after ``cut_off``."""

    seq: int = 0
    cut_off: str = ""


@dataclass(frozen=True, slots=True)
class DownloadExtent:
    """What there is to take: results up to ``until``, matches cut off if ``ended``; ``logs`` of them in all, and
    ``closed`` ones that are left out, because they are not open yet or come after one that is not."""

    until: int
    ended: bool
    logs: int
    closed: int


@dataclass(frozen=True, slots=True)
class StoredSize:
    """How much logs take: bytes as they are stored, and rows."""

    size_bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class Named:
    """A match whose log is to be read."""

    match_id: str
    place: DownloadCursor
    status: str
    reason: str | None
    stage: int | None
    table: int | None
    leg: int | None


def place_after(session: Session, tournament_id: str, match_id: str | None) -> DownloadCursor:
    """The place after the log of this match; the beginning for None. Raises ``BadOption`` when it is none of these."""
    if match_id is None:
        return DownloadCursor()
    query = select(Match, Result.seq).outerjoin(Result, Result.match_id == Match.id).join(MatchLog)
    found = session.execute(query.where(Match.id == match_id, Match.tournament_id == tournament_id)).one_or_none()
    if found is None:
        raise BadOption("after", "not a match of this event with a log")
    match, seq = found
    if seq is not None:
        return DownloadCursor(seq)
    return DownloadCursor(last_seq(session), match.id)


def extent(session: Session, tournament_id: str, place: DownloadCursor) -> DownloadExtent:
    """Raises ``NotFound``."""
    any_open = select(DealGroup.id).where(DealGroup.tournament_id == tournament_id, DealGroup.state != "over").limit(1)
    ended = get_tournament(session, tournament_id).status in OVER and session.scalar(any_open) is None
    shut = (
        select(func.min(Result.seq))
        .join(Match, Match.id == Result.match_id)
        .join(DealGroup, DealGroup.id == Match.group_id)
        .where(Match.tournament_id == tournament_id, DealGroup.state != "over")
    )
    first_shut = session.scalar(shut)
    until = last_seq(session) if first_shut is None else first_shut - 1
    results = select(func.count()).select_from(Match).join(Result, Result.match_id == Match.id)
    results = results.where(Match.tournament_id == tournament_id)
    count = session.scalar(results.where(Result.seq > place.seq, Result.seq <= until)) or 0
    closed = session.scalar(results.where(Result.seq > until)) or 0
    cut = session.scalar(_cut_off(tournament_id, place.cut_off, func.count(Match.id))) or 0
    return DownloadExtent(until, ended, count + (cut if ended else 0), closed + (0 if ended else cut))


def stored_size(session: Session, tournament_id: str) -> StoredSize:
    """Return how much the logs of a tournament take."""
    query = select(func.sum(func.length(MatchLog.gzip_log)), func.sum(MatchLog.rows)).join(Match)
    size_bytes, rows = session.execute(query.where(Match.tournament_id == tournament_id)).one()
    return StoredSize(size_bytes or 0, rows or 0)


def next_logs(session: Session, tournament_id: str, place: DownloadCursor, until: int, ended: bool) -> list[Named]:
    """The matches whose logs come next, at most ``PAGE``; none at the end."""
    columns = (Match.id, Match.status, Match.reason, Match.tournament_round, Match.table_no, Match.leg)
    query = select(*columns, Result.seq).join(Match, Match.id == Result.match_id)
    query = query.where(of_event(tournament_id), Result.seq > place.seq, Result.seq <= until)
    rows = session.execute(query.order_by(Result.seq).limit(PAGE)).all() if place.seq < until else []
    if rows:
        return [_named_log(row, DownloadCursor(row.seq)) for row in rows]
    if not ended:
        return []
    cut = _cut_off(tournament_id, place.cut_off, *columns).order_by(Match.id).limit(PAGE)
    return [_named_log(row, DownloadCursor(until, row.id)) for row in session.execute(cut)]


def packed_log(session: Session, match_id: str) -> bytes | None:
    """The log as it is stored, with its reveal: gzip members. None when it is damaged."""
    try:
        return logs.download(session, session.get_one(Match, match_id), gzipped=True)
    except BadLog:
        return None


def seats(session: Session, which: ResultFilter, *, after: int, until: int) -> list[DownloadSeat]:
    """Return the seats of the matches with the next results, at most ``PAGE`` matches."""
    found = select(Result, Match).join(Match, Match.id == Result.match_id)
    found = found.where(which, Result.seq > after, Result.seq <= until)
    rows = session.execute(found.order_by(Result.seq).limit(PAGE))
    return seats_of(session, [(result, match) for result, match in rows])


def of_event(tournament_id: str) -> ResultFilter:
    """Results of an event, to be looked for by number: concatenated, the column serves no index, and so neither
    database sorts all matches of the event for each page."""
    return Match.tournament_id.concat("") == tournament_id


def _cut_off(tournament_id: str, after: str, *columns: Any) -> Select[Any]:
    """Matches that ended without a result, but have a log."""
    query = select(*columns).select_from(Match).join(MatchLog, MatchLog.match_id == Match.id)
    query = query.outerjoin(Result, Result.match_id == Match.id)
    of_these = Match.tournament_id == tournament_id, Match.status == "cancelled", Result.seq.is_(None)
    return query.where(*of_these, Match.id > after)


def _named_log(row: Any, place: DownloadCursor) -> Named:
    return Named(row.id, place, row.status, row.reason, row.tournament_round, row.table_no, row.leg)
