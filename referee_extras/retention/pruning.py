"""Prune in small portions, each in one short transaction. A run that was interrupted is simply started again.

Several processes may prune at the same time: each portion deletes what is left of it, and adds to the run of the day.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from referee.db.engine import Database, current_time, take_advisory_lock
from referee.errors import BadLog
from referee.matches.logs import logs
from referee.matches.tables import StoredMatch
from referee_extras.retention.rules import Keep, Kind, Rules
from referee_extras.retention.sources import get_source
from referee_extras.retention.tables import RetentionRun

ROWS_PER_PORTION: Final = 200


@dataclass(frozen=True, slots=True)
class Overdue:
    """Describe what a rule deletes of a kind: the number of rows, their size, and the time of the oldest."""

    kind: str
    rule: str
    rows: int
    bytes: int
    oldest: datetime | None


def list_overdue(session: Session, rules: Rules) -> list[Overdue]:
    """Return what ``Pruner`` would delete now, of each kind. This reads all rows that may be deleted."""
    return [_count_overdue(session, kind, keep) for kind, keep in rules.items()]


class Pruner:
    """Prune with these rules."""

    def __init__(self, database: Database, rules: Rules) -> None:
        self._database, self._rules = database, rules
        self._after: Row[Any] | None = None
        self._kinds = list(rules)
        self.deleted: dict[str, list[int]] = {}  # by kind: rows, bytes

    def step(self) -> bool:
        """Prune the next portion. Return whether there may be more."""
        if not self._kinds:
            return False
        kind = self._kinds[0]
        with self._database.read() as session:
            found = self._select(session, kind)
            last = found[-1] if found else None
            if kind in (Kind.LADDER_LOGS, Kind.LOGS):
                found = _without_damaged(session, found)
        if found:
            self._delete(kind, found)
        self._after = last
        if last is None:
            self._kinds.pop(0)
        return bool(self._kinds) or self._finish()

    def run(self) -> None:
        """Prune all portions."""
        while self.step():
            pass

    def _select(self, session: Session, kind: str) -> Sequence[Row[Any]]:
        """Return the next rows to delete."""
        age = self._rules[kind].age
        if age is None:
            return []
        candidates = get_source(kind).candidates(current_time(session) - age, self._after, ROWS_PER_PORTION)
        return session.execute(candidates).all()

    def _delete(self, kind: str, found: Sequence[Row[Any]]) -> None:
        source, rule = get_source(kind), describe_rule(kind, self._rules[kind])
        sizes = {candidate.id: candidate.size for candidate in found}
        with self._database.write() as session:
            run = _run_of_today(session)
            allowed = source.still_allowed(session, list(sizes))
            rows = source.delete(session, allowed, rule) if allowed else 0
            size = sum(sizes[id] for id in allowed)
            run.deleted = _add(run.deleted, kind, rows, size)
        self.deleted = _add(self.deleted, kind, rows, size)

    def _finish(self) -> bool:
        with self._database.write() as session:
            _run_of_today(session).finished_at = current_time(session)
        return False


def _run_of_today(session: Session) -> RetentionRun:
    """Return the run of the day. Other transactions prune and change it only after this one."""
    take_advisory_lock(session, "retention")  # there may be no row to lock yet
    day = current_time(session).date()
    run = session.get(RetentionRun, day)
    if run is None:
        run = RetentionRun(day=day, deleted={})
        session.add(run)
    return run


def _without_damaged(session: Session, found: Sequence[Row[Any]]) -> Sequence[Row[Any]]:
    """Return those whose log is intact. A damaged log stays, so that audits find it."""
    intact = []
    for candidate in found:
        match = session.get_one(StoredMatch, candidate.id)
        with suppress(BadLog):
            logs.read_log_file(session, match, gzipped=True)
            intact.append(candidate)
    session.expunge_all()  # free memory, because logs are large
    return intact


def _add(deleted: dict[str, list[int]], kind: str, rows: int, size: int) -> dict[str, list[int]]:
    """Return the rows and bytes by kind with these added."""
    before = deleted.get(kind, [0, 0])
    return {**deleted, str(kind): [before[0] + rows, before[1] + size]}


def describe_rule(kind: str, keep: Keep) -> str:
    """Return a rule in words, as the page of a match and the API show it."""
    name = "logs of official ladders" if kind == Kind.LADDER_LOGS else str(kind).replace("_", " ")
    return f"{name} are kept {keep if keep.days is None else f'for {keep}'}"


def find_last_run(session: Session) -> RetentionRun | None:
    """Return the newest run, or None."""
    return session.scalar(select(RetentionRun).order_by(RetentionRun.day.desc()).limit(1))


def _count_overdue(session: Session, kind: str, keep: Keep) -> Overdue:
    rows, size, oldest = 0, 0, None
    if keep.age is not None:
        rows, size, oldest = session.execute(get_source(kind).total(current_time(session) - keep.age)).one()
    return Overdue(kind, describe_rule(kind, keep), rows, size, oldest)
