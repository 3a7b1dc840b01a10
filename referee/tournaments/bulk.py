"""Read all logs and all results of a tournament in pages, each in a short transaction of its own.

Logs come in the order in which matches ended, up to the first whose deal group is not closed: a download resumed after
any of them is complete, even while the tournament runs. Matches cancelled while being played have no result and no
place in that order; their logs come last, once the tournament and all its deal groups are over.
"""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from referee.errors import BadLog, BadOption
from referee.matches import logs
from referee.matches.download_seats import DownloadSeat, seats_of
from referee.matches.states import DealGroupState, MatchState
from referee.matches.tables import DealGroup, Match, MatchLog, Result
from referee.tournaments.states import OVER
from referee.tournaments.tournaments import get_tournament
from referee.tournaments.watching import last_seq

PAGE_SIZE: Final = 200
ResultFilter = ColumnElement[bool]  # which results are read


@dataclass(frozen=True, slots=True)
class DownloadCursor:
    """Position of a download: after result ``seq`` and, of matches without result, after the id ``unfinished_id``."""

    seq: int = 0
    unfinished_id: str = ""


@dataclass(frozen=True, slots=True)
class DownloadScope:
    """What can be downloaded: results up to ``until`` and, if ``ended``, matches without result.

    ``logs`` is the number of logs available, ``closed`` of those withheld: their deal group, or that of an earlier
    match, is not closed.
    """

    until: int
    ended: bool
    logs: int
    closed: int


@dataclass(frozen=True, slots=True)
class StoredSize:
    """Size of logs: compressed bytes and rows."""

    size_bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class NextLog:
    """A match whose log is to be read; ``cursor`` is the position after it."""

    match_id: str
    cursor: DownloadCursor
    status: MatchState
    reason: str | None
    tournament_round: int | None
    table: int | None
    leg: int | None


def cursor_after(session: Session, tournament_id: str, match_id: str | None) -> DownloadCursor:
    """Return the position after the log of this match, the beginning for None.

    Raise ``BadOption`` if it is not a match of this tournament with a log.
    """
    if match_id is None:
        return DownloadCursor()
    query = select(Match, Result.seq).outerjoin(Result, Result.match_id == Match.id).join(MatchLog)
    found = session.execute(query.where(Match.id == match_id, Match.tournament_id == tournament_id)).one_or_none()
    if found is None:
        raise BadOption("after", "must be a match of this tournament that has a log")
    match, seq = found
    if seq is not None:
        return DownloadCursor(seq)
    return DownloadCursor(last_seq(session), match.id)


def find_scope(session: Session, tournament_id: str, cursor: DownloadCursor) -> DownloadScope:
    """Return what can be downloaded from this position on. Raise ``NotFound``."""
    any_open = (
        select(DealGroup.id)
        .where(DealGroup.tournament_id == tournament_id, DealGroup.state != DealGroupState.REVEALED)
        .limit(1)
    )
    ended = get_tournament(session, tournament_id).status in OVER and session.scalar(any_open) is None
    shut = (
        select(func.min(Result.seq))
        .join(Match, Match.id == Result.match_id)
        .join(DealGroup, DealGroup.id == Match.group_id)
        .where(Match.tournament_id == tournament_id, DealGroup.state != DealGroupState.REVEALED)
    )
    first_shut = session.scalar(shut)
    until = last_seq(session) if first_shut is None else first_shut - 1
    results = select(func.count()).select_from(Match).join(Result, Result.match_id == Match.id)
    results = results.where(Match.tournament_id == tournament_id)
    count = session.scalar(results.where(Result.seq > cursor.seq, Result.seq <= until)) or 0
    closed = session.scalar(results.where(Result.seq > until)) or 0
    cut = session.scalar(_unfinished_with_log(tournament_id, cursor.unfinished_id, func.count(Match.id))) or 0
    return DownloadScope(until, ended, count + (cut if ended else 0), closed + (0 if ended else cut))


def measure_logs(session: Session, tournament_id: str) -> StoredSize:
    """Return the size of all logs of a tournament."""
    query = select(func.sum(func.length(MatchLog.gzip_log)), func.sum(MatchLog.rows)).join(Match)
    size_bytes, rows = session.execute(query.where(Match.tournament_id == tournament_id)).one()
    return StoredSize(size_bytes or 0, rows or 0)


def list_next_logs(
    session: Session, tournament_id: str, cursor: DownloadCursor, until: int, ended: bool
) -> list[NextLog]:
    """Return up to ``PAGE_SIZE`` matches whose logs come next after the cursor, or [] at the end."""
    columns = (Match.id, Match.status, Match.reason, Match.tournament_round, Match.table_no, Match.leg)
    query = select(*columns, Result.seq).join(Match, Match.id == Result.match_id)
    query = query.where(is_in_tournament(tournament_id), Result.seq > cursor.seq, Result.seq <= until)
    rows = session.execute(query.order_by(Result.seq).limit(PAGE_SIZE)).all() if cursor.seq < until else []
    if rows:
        return [_next_log(row, DownloadCursor(row.seq)) for row in rows]
    if not ended:
        return []
    cut = _unfinished_with_log(tournament_id, cursor.unfinished_id, *columns).order_by(Match.id).limit(PAGE_SIZE)
    return [_next_log(row, DownloadCursor(until, row.id)) for row in session.execute(cut)]


def load_gzip_log(session: Session, match_id: str) -> bytes | None:
    """Return the stored log with its reveal, as gzip members; None when it is damaged."""
    try:
        return logs.read_log_file(session, session.get_one(Match, match_id), gzipped=True)
    except BadLog:
        return None


def load_result_seats(session: Session, condition: ResultFilter, *, after: int, until: int) -> list[DownloadSeat]:
    """Return the seats of the matches with the next results, at most ``PAGE_SIZE`` matches."""
    found = select(Result, Match).join(Match, Match.id == Result.match_id)
    found = found.where(condition, Result.seq > after, Result.seq <= until)
    rows = session.execute(found.order_by(Result.seq).limit(PAGE_SIZE))
    return seats_of(session, [(result, match) for result, match in rows])


def is_in_tournament(tournament_id: str) -> ResultFilter:
    """Return the condition for results of a tournament, to be read in order of ``seq``.

    The concatenation keeps both databases from using the index on the column and sorting all matches for each page.
    """
    return Match.tournament_id.concat("") == tournament_id


def _unfinished_with_log(tournament_id: str, after: str, *columns: Any) -> Select[Any]:
    """Return a query of matches that were cancelled without a result but have a log."""
    query = select(*columns).select_from(Match).join(MatchLog, MatchLog.match_id == Match.id)
    query = query.outerjoin(Result, Result.match_id == Match.id)
    of_these = Match.tournament_id == tournament_id, Match.status == MatchState.CANCELLED, Result.seq.is_(None)
    return query.where(*of_these, Match.id > after)


def _next_log(row: Any, cursor: DownloadCursor) -> NextLog:
    return NextLog(row.id, cursor, row.status, row.reason, row.tournament_round, row.table_no, row.leg)
