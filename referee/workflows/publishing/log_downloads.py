"""Find and read many logs: those of a tournament, a bot, a ladder, or a span of time.

Logs are read in the order in which matches ended, up to the first match whose deal group is not closed. A download
that is resumed after any log is therefore complete, even while matches are played. Matches of a tournament that were
cancelled during play have no result and no position in that order; their logs are read last, after the end of the
tournament. Deleted logs are left out.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from referee.errors import BadLog, BadOption
from referee.matches.logs import logs
from referee.matches.states import DealGroupState, MatchState
from referee.matches.tables import DealGroup, MatchLog, MatchSeat, Result, StoredMatch
from referee.tournaments.states import OVER
from referee.tournaments.tournaments import get_tournament

PAGE_SIZE: Final = 200
_ROWS_PER_FETCH: Final = 5_000
_AFTER_RESULTS: Final = 2**62  # above every ``seq``


@dataclass(frozen=True, slots=True)
class LogSelection:
    """Select the logs that pass all filters that are given. ``finished_before`` is an exclusive bound.

    Logs of unlisted tournaments and ladders pass only a filter by ``tournament_id`` or ``ladder_id``.
    """

    tournament_id: str | None = None
    bot_id: str | None = None
    ladder_id: str | None = None
    finished_since: datetime | None = None
    finished_before: datetime | None = None

    def conditions(self) -> Iterator[ColumnElement[bool]]:
        """Yield a condition on ``StoredMatch`` and ``Result`` for each filter."""
        if self.tournament_id is not None:
            yield StoredMatch.tournament_id == self.tournament_id
        elif self.ladder_id is None:
            yield StoredMatch.listed.is_(True)
        if self.bot_id is not None:
            yield StoredMatch.id.in_(select(MatchSeat.match_id).where(MatchSeat.bot_id == self.bot_id))
        if self.ladder_id is not None:
            yield Result.ladder_id == self.ladder_id
        if self.finished_since is not None:
            yield Result.finished_at >= self.finished_since
        if self.finished_before is not None:
            yield Result.finished_at < self.finished_before


@dataclass(frozen=True, slots=True)
class LogList:
    """List the logs of a download: the ``seq`` of results, then ids of cancelled matches.

    ``withheld`` is the number of logs left out because the deal group of their match, or that of an earlier match, is
    not closed. ``deleted`` is the number of those left out because they were deleted.
    """

    seqs: "array[int]" = field(default_factory=lambda: array("q"))
    cancelled: Sequence[str] = ()
    withheld: int = 0
    deleted: int = 0

    def __len__(self) -> int:
        return len(self.seqs) + len(self.cancelled)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """Describe a match whose log is part of a download."""

    match_id: str
    status: MatchState
    reason: str | None


@dataclass(frozen=True, slots=True)
class StoredSize:
    """Hold the size of stored logs: their compressed bytes and their number of rows."""

    size_bytes: int
    rows: int


def find_logs(session: Session, selection: LogSelection, *, after: str | None = None) -> LogList:
    """Return the logs of a download, or those that follow the log of the match ``after``.

    It takes 8 bytes of memory for each log. Raise ``BadOption`` if ``after`` is not a match of this selection that has
    a log, ``NotFound`` if the tournament does not exist.
    """
    last_seq, last_cancelled = (0, "") if after is None else _find_position(session, selection, after)
    seqs, withheld, deleted = array("q"), 0, 0
    for seq, state, deleted_at in session.execute(
        _results(selection, Result.seq, DealGroup.state, StoredMatch.log_deleted_at)
        .join(DealGroup, DealGroup.id == StoredMatch.group_id)
        .where(Result.seq > last_seq)
        .order_by(Result.seq),
        execution_options={"yield_per": _ROWS_PER_FETCH},
    ):
        if withheld or state != DealGroupState.REVEALED:
            withheld += 1
        elif deleted_at is not None:
            deleted += 1
        else:
            seqs.append(seq)
    cancelled = _list_cancelled(session, selection.tournament_id, last_cancelled) if selection.tournament_id else []
    if cancelled and not _is_over(session, str(selection.tournament_id)):
        cancelled, withheld = [], withheld + len(cancelled)
    return LogList(seqs, cancelled, withheld, deleted)


def list_entries(session: Session, found: LogList, start: int) -> list[LogEntry]:
    """Return up to ``PAGE_SIZE`` entries of the list from position ``start``, or [] at the end."""
    columns = StoredMatch.id, StoredMatch.status, StoredMatch.reason
    seqs = list(found.seqs[start : start + PAGE_SIZE])
    if seqs:
        query = select(*columns).join(Result, Result.match_id == StoredMatch.id).where(Result.seq.in_(seqs))
        return [LogEntry(*row) for row in session.execute(query.order_by(Result.seq))]
    first = start - len(found.seqs)
    ids = found.cancelled[first : first + PAGE_SIZE]
    rows = session.execute(select(*columns).where(StoredMatch.id.in_(ids)).order_by(StoredMatch.id)) if ids else ()
    return [LogEntry(*row) for row in rows]


def load_gzip_log(session: Session, match_id: str) -> bytes | None:
    """Return the stored log and its reveal row as concatenated gzip members, or None if the log is damaged.

    Raise ``LogDeleted`` if the log was deleted.
    """
    try:
        return logs.read_log_file(session, session.get_one(StoredMatch, match_id), gzipped=True)
    except BadLog:
        return None


def measure_logs(session: Session, tournament_id: str) -> StoredSize:
    """Return the total size of the stored logs of a tournament."""
    query = select(func.sum(func.length(MatchLog.gzip_log)), func.sum(MatchLog.rows)).join(StoredMatch)
    size_bytes, rows = session.execute(query.where(StoredMatch.tournament_id == tournament_id)).one()
    return StoredSize(size_bytes or 0, rows or 0)


def _find_position(session: Session, selection: LogSelection, match_id: str) -> tuple[int, str]:
    """Return the ``seq`` after which the download continues and, after all results, the last cancelled match."""
    query = _results(selection, Result.seq).join(MatchLog, MatchLog.match_id == StoredMatch.id)
    seq = session.scalar(query.where(StoredMatch.id == match_id))
    if seq is not None:
        return seq, ""
    if selection.tournament_id is not None:
        cancelled = _cancelled_with_log(selection.tournament_id).where(StoredMatch.id == match_id)
        if session.scalar(cancelled) is not None:
            return _AFTER_RESULTS, match_id
    raise BadOption("after", "must be a match of this download that has a log")


def _results(selection: LogSelection, *columns: Any) -> Select[Any]:
    """Return a query for these columns of the selected matches with results."""
    query = select(*columns).select_from(Result).join(StoredMatch, StoredMatch.id == Result.match_id)
    return query.where(*selection.conditions())


def _list_cancelled(session: Session, tournament_id: str, after: str) -> list[str]:
    query = _cancelled_with_log(tournament_id).where(StoredMatch.id > after)
    return list(session.scalars(query.order_by(StoredMatch.id)))


def _cancelled_with_log(tournament_id: str) -> Select[Any]:
    """Return a query for the ids of cancelled matches that have a log but no result."""
    query = select(StoredMatch.id).join(MatchLog, MatchLog.match_id == StoredMatch.id)
    return query.outerjoin(Result, Result.match_id == StoredMatch.id).where(
        StoredMatch.tournament_id == tournament_id, StoredMatch.status == MatchState.CANCELLED, Result.seq.is_(None)
    )


def _is_over(session: Session, tournament_id: str) -> bool:
    """Return whether the tournament and all its deal groups are over."""
    any_open = select(DealGroup.id).where(
        DealGroup.tournament_id == tournament_id, DealGroup.state != DealGroupState.REVEALED
    )
    return get_tournament(session, tournament_id).status in OVER and session.scalar(any_open.limit(1)) is None
