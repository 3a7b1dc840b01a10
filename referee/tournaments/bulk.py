"""Read all logs and all results of a tournament in pages, each in a separate short transaction.

Logs are read in the order in which matches ended, up to the first match whose deal group is not closed. A download
that is resumed after any log is therefore complete, even while the tournament runs. Matches that were cancelled during
play have no result and no position in that order; their logs are read last, after the end of the tournament.
"""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from referee.errors import BadLog, BadOption
from referee.matches import logs
from referee.matches.download_seats import DownloadSeat, seats_of
from referee.matches.states import DealGroupState, MatchState
from referee.matches.tables import DealGroup, MatchLog, Result, StoredMatch
from referee.tournaments.states import OVER
from referee.tournaments.tournaments import get_tournament
from referee.tournaments.watching import last_seq

PAGE_SIZE: Final = 200
ResultFilter = ColumnElement[bool]  # an SQL condition on results


@dataclass(frozen=True, slots=True)
class DownloadCursor:
    """Hold the position of a download: the last result (its ``seq``) and the last match without a result (its id)."""

    seq: int = 0
    unfinished_id: str = ""


@dataclass(frozen=True, slots=True)
class DownloadScope:
    """Describe what can be downloaded: results up to ``until`` and, if ``ended``, matches without a result.

    ``logs`` is the number of available logs after the position. ``closed`` is the number of logs that are withheld
    because the deal group of their match, or that of an earlier match, is not closed.
    """

    until: int
    ended: bool
    logs: int
    closed: int


@dataclass(frozen=True, slots=True)
class StoredSize:
    """Hold the size of stored logs: their compressed bytes and their number of rows."""

    size_bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class NextLog:
    """Identify a match whose log is read next; ``cursor`` is the position after it."""

    match_id: str
    cursor: DownloadCursor
    status: MatchState
    reason: str | None
    tournament_round: int | None
    table: int | None
    leg: int | None


def cursor_after(session: Session, tournament_id: str, match_id: str | None) -> DownloadCursor:
    """Return the position after the log of this match, or the beginning if ``match_id`` is None.

    Raise ``BadOption`` if the match does not belong to this tournament or has no log.
    """
    if match_id is None:
        return DownloadCursor()
    query = select(StoredMatch, Result.seq).outerjoin(Result, Result.match_id == StoredMatch.id).join(MatchLog)
    found = session.execute(
        query.where(StoredMatch.id == match_id, StoredMatch.tournament_id == tournament_id)
    ).one_or_none()
    if found is None:
        raise BadOption("after", "must be a match of this tournament that has a log")
    match, seq = found
    if seq is not None:
        return DownloadCursor(seq)
    return DownloadCursor(last_seq(session), match.id)


def find_scope(session: Session, tournament_id: str, cursor: DownloadCursor) -> DownloadScope:
    """Return the scope of a download from this position on. Raise ``NotFound`` if the tournament does not exist."""
    any_open = (
        select(DealGroup.id)
        .where(DealGroup.tournament_id == tournament_id, DealGroup.state != DealGroupState.REVEALED)
        .limit(1)
    )
    ended = get_tournament(session, tournament_id).status in OVER and session.scalar(any_open) is None
    shut = (
        select(func.min(Result.seq))
        .join(StoredMatch, StoredMatch.id == Result.match_id)
        .join(DealGroup, DealGroup.id == StoredMatch.group_id)
        .where(StoredMatch.tournament_id == tournament_id, DealGroup.state != DealGroupState.REVEALED)
    )
    first_shut = session.scalar(shut)
    until = last_seq(session) if first_shut is None else first_shut - 1
    results = select(func.count()).select_from(StoredMatch).join(Result, Result.match_id == StoredMatch.id)
    results = results.where(StoredMatch.tournament_id == tournament_id)
    count = session.scalar(results.where(Result.seq > cursor.seq, Result.seq <= until)) or 0
    closed = session.scalar(results.where(Result.seq > until)) or 0
    cut = session.scalar(_unfinished_with_log(tournament_id, cursor.unfinished_id, func.count(StoredMatch.id))) or 0
    return DownloadScope(until, ended, count + (cut if ended else 0), closed + (0 if ended else cut))


def measure_logs(session: Session, tournament_id: str) -> StoredSize:
    """Return the total size of the stored logs of a tournament."""
    query = select(func.sum(func.length(MatchLog.gzip_log)), func.sum(MatchLog.rows)).join(StoredMatch)
    size_bytes, rows = session.execute(query.where(StoredMatch.tournament_id == tournament_id)).one()
    return StoredSize(size_bytes or 0, rows or 0)


def list_next_logs(
    session: Session, tournament_id: str, cursor: DownloadCursor, until: int, ended: bool
) -> list[NextLog]:
    """Return up to ``PAGE_SIZE`` matches whose logs follow the cursor, or [] at the end.

    ``until`` and ``ended`` are those of the ``DownloadScope``.
    """
    columns = (
        StoredMatch.id,
        StoredMatch.status,
        StoredMatch.reason,
        StoredMatch.tournament_round,
        StoredMatch.table_no,
        StoredMatch.leg,
    )
    query = select(*columns, Result.seq).join(StoredMatch, StoredMatch.id == Result.match_id)
    query = query.where(is_in_tournament(tournament_id), Result.seq > cursor.seq, Result.seq <= until)
    rows = session.execute(query.order_by(Result.seq).limit(PAGE_SIZE)).all() if cursor.seq < until else []
    if rows:
        return [_next_log(row, DownloadCursor(row.seq)) for row in rows]
    if not ended:
        return []
    cut = _unfinished_with_log(tournament_id, cursor.unfinished_id, *columns).order_by(StoredMatch.id).limit(PAGE_SIZE)
    return [_next_log(row, DownloadCursor(until, row.id)) for row in session.execute(cut)]


def load_gzip_log(session: Session, match_id: str) -> bytes | None:
    """Return the stored log and its reveal row as concatenated gzip members, or None if the log is damaged."""
    try:
        return logs.read_log_file(session, session.get_one(StoredMatch, match_id), gzipped=True)
    except BadLog:
        return None


def load_result_seats(session: Session, condition: ResultFilter, *, after: int, until: int) -> list[DownloadSeat]:
    """Return the seats of up to ``PAGE_SIZE`` matches with ``after`` < ``seq`` <= ``until``, in order of ``seq``."""
    found = select(Result, StoredMatch).join(StoredMatch, StoredMatch.id == Result.match_id)
    found = found.where(condition, Result.seq > after, Result.seq <= until)
    rows = session.execute(found.order_by(Result.seq).limit(PAGE_SIZE))
    return seats_of(session, [(result, match) for result, match in rows])


def is_in_tournament(tournament_id: str) -> ResultFilter:
    """Return the SQL condition for results of a tournament that are read in order of ``seq``.

    The concatenation keeps the database from using the index on the column and then sorting all matches for each page.
    """
    return StoredMatch.tournament_id.concat("") == tournament_id


def _unfinished_with_log(tournament_id: str, after: str, *columns: Any) -> Select[Any]:
    """Return a query for cancelled matches with ids above ``after`` that have a log but no result."""
    query = select(*columns).select_from(StoredMatch).join(MatchLog, MatchLog.match_id == StoredMatch.id)
    query = query.outerjoin(Result, Result.match_id == StoredMatch.id)
    of_these = (
        StoredMatch.tournament_id == tournament_id,
        StoredMatch.status == MatchState.CANCELLED,
        Result.seq.is_(None),
    )
    return query.where(*of_these, StoredMatch.id > after)


def _next_log(row: Any, cursor: DownloadCursor) -> NextLog:
    return NextLog(row.id, cursor, row.status, row.reason, row.tournament_round, row.table_no, row.leg)
