"""Read from the database what is the same for all processes: matches by state, the queue, ladders, the last audit."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import case, func, select, text
from sqlalchemy.orm import Session

from referee.audit import nightly
from referee.db.engine import Database, current_time, lease_now
from referee.db.leases import is_lease_expired
from referee.ladders.tables import Ladder, LadderMember
from referee.matches.states import OPEN, MatchKind, MatchState
from referee.matches.tables import Result, StoredMatch, friendly

CACHED_S: Final = 5.0  # so that nobody makes the database work by asking often
ENDED_CACHED_S: Final = 600.0  # counting the matches that have ended reads all of them

_M = StoredMatch
_KIND: Final = case((friendly(), MatchKind.FRIENDLY.value), else_=MatchKind.ORGANISED.value)


@dataclass(frozen=True, slots=True)
class LadderPace:
    """Hold how fast an official ladder moves. ``overdue_s`` is for how long the member that is due longest waits."""

    name: str
    results: int
    members_due: int
    overdue_s: float


@dataclass(frozen=True, slots=True)
class DatabaseFigures:
    """Hold what was read in one snapshot. ``matches`` is keyed by state and kind."""

    matches: dict[tuple[str, str], int]
    results: int
    oldest_due_s: float
    expired_leases: int
    ladders: list[LadderPace]
    audit_differences: int
    audit_age_s: float | None  # None before the first audit
    size_bytes: int
    read_s: float


@dataclass(slots=True)
class DatabaseReader:
    """Read the figures of one database, at most every few seconds. Not thread-safe."""

    database: Database
    seconds: Callable[[], float] = time.monotonic
    _figures: DatabaseFigures | None = field(default=None, init=False)
    _ended: Counter[tuple[str, str]] = field(default_factory=Counter, init=False)
    _read_at: float = field(default=float("-inf"), init=False)
    _ended_at: float = field(default=float("-inf"), init=False)

    def read(self) -> DatabaseFigures:
        """Return the figures. Raise ``Unavailable`` without a database."""
        if self._figures is None or self.seconds() - self._read_at >= CACHED_S:
            began = time.perf_counter()
            with self.database.read() as session:
                self._figures = self._load(session, began)
            self._read_at = self.seconds()
        return self._figures

    def _load(self, session: Session, began: float) -> DatabaseFigures:
        moment = current_time(session)
        if self.seconds() - self._ended_at >= ENDED_CACHED_S:
            self._ended = _count_matches(session, sorted(set(MatchState) - OPEN))
            self._ended_at = self.seconds()
        oldest = session.scalar(select(func.min(_M.created_at)).where(_M.status == MatchState.DUE))
        expired = is_lease_expired(_M, *lease_now(session))
        running = select(func.count()).select_from(_M).where(_M.status == MatchState.RUNNING, expired)
        audit = nightly.load_state(session)
        return DatabaseFigures(
            matches=dict(self._ended + _count_matches(session, sorted(OPEN))),
            results=session.scalar(select(func.max(Result.seq))) or 0,
            oldest_due_s=0.0 if oldest is None else (moment - oldest).total_seconds(),
            expired_leases=session.scalar(running) or 0,
            ladders=_load_paces(session, moment),
            audit_differences=audit.differences,
            audit_age_s=None if audit.finished_at is None else (moment - audit.finished_at).total_seconds(),
            size_bytes=_size_bytes(session, self.database),
            read_s=time.perf_counter() - began,
        )


def _count_matches(session: Session, states: list[MatchState]) -> Counter[tuple[str, str]]:
    query = select(_M.status, _KIND, func.count()).where(_M.status.in_(states)).group_by(_M.status, _KIND)
    return Counter({(state.value, kind): count for state, kind, count in session.execute(query)})


def _load_paces(session: Session, moment: Any) -> list[LadderPace]:
    """Return the pace of each official ladder. Their number is that of the operator's file."""
    due = select(LadderMember.ladder_id, func.count(), func.min(LadderMember.due_at))
    due = due.where(LadderMember.due_at <= moment).group_by(LadderMember.ladder_id)
    waiting = {ladder_id: (count, oldest) for ladder_id, count, oldest in session.execute(due)}
    ladders = session.execute(
        select(Ladder.id, Ladder.name, Ladder.results).where(Ladder.official).order_by(Ladder.name)
    ).all()
    paces = []
    for ladder in ladders:
        count, oldest = waiting.get(ladder.id, (0, moment))
        paces.append(LadderPace(ladder.name, ladder.results, count, (moment - oldest).total_seconds()))
    return paces


def _size_bytes(session: Session, database: Database) -> int:
    if not database.is_sqlite:
        return int(session.scalar(text("SELECT pg_database_size(current_database())")) or 0)
    path = Path(str(database.url.database))
    return sum(file.stat().st_size for file in (path, path.with_name(path.name + "-wal")) if file.exists())
