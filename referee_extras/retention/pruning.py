"""Prune in small portions: each is one short transaction, and a run that was interrupted is simply started again.

At most one process prunes at a time: each portion renews the ``RetentionRun`` of the day in its transaction.
"""

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, exists, select, update
from sqlalchemy.orm import Session

from referee.db.engine import Database, count_changed_rows, current_time, take_advisory_lock
from referee.errors import BadLog, Conflict
from referee.matches.logs import logs
from referee.matches.tables import StoredMatch
from referee_extras.retention.rules import Keep, Kind, Rules
from referee_extras.retention.sources import get_source
from referee_extras.retention.tables import RetentionRun

ROWS_PER_PORTION: Final = 200
ABANDONED: Final = timedelta(minutes=10)  # after which another process continues a run


class PruningElsewhere(Conflict):
    """Report that another process prunes now."""


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
        self._runner = secrets.token_hex(16)
        self._after: Row[Any] | None = None
        self._kinds = list(rules)
        self._deleted_before: dict[str, list[int]] = {}  # in earlier runs of the day
        self.deleted: dict[str, list[int]] = {}  # by kind: rows, bytes
        self.is_started = False

    def start(self) -> None:
        """Begin the run of today, or continue it. Raise ``PruningElsewhere`` if another process prunes now."""
        with self._database.write() as session:
            take_advisory_lock(session, "retention")  # there may be no row to lock yet
            now = current_time(session)
            is_going_on = RetentionRun.finished_at.is_(None), RetentionRun.updated_at >= now - ABANDONED
            if session.scalar(select(exists().where(*is_going_on))):  # of today, or from before midnight
                raise PruningElsewhere("Another process prunes now. Wait until it has finished, and try again.")
            run = session.get(RetentionRun, now.date())
            if run is None:
                run = RetentionRun(day=now.date(), started_at=now, deleted={})
                session.add(run)
            run.runner, run.updated_at, run.finished_at = self._runner, now, None
            self._deleted_before = dict(run.deleted)
        self.is_started = True

    def step(self) -> bool:
        """Prune the next portion. Return whether there may be more.

        Raise ``PruningElsewhere`` if another process has taken the run over.
        """
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
        """Start, and prune all portions. If this fails, others may prune immediately."""
        self.start()
        try:
            while self.step():
                pass
        except BaseException:
            self._finish()
            raise

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
            allowed = source.still_allowed(session, list(sizes))
            rows = source.delete(session, allowed, rule) if allowed else 0
            size = sum(sizes[id] for id in allowed)
            deleted = _add(self.deleted, {str(kind): [rows, size]})
            self._renew(session, deleted=_add(self._deleted_before, deleted))
        self.deleted = deleted

    def _renew(self, session: Session, **values: object) -> None:
        own = RetentionRun.runner == self._runner
        changes = {"updated_at": current_time(session), **values}
        if not count_changed_rows(session, update(RetentionRun).where(own).values(changes)):
            raise PruningElsewhere("Another process has continued the pruning, because this one was too slow.")

    def _finish(self) -> bool:
        with self._database.write() as session:
            self._renew(session, finished_at=current_time(session))
        return False


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


def _add(first: Mapping[str, list[int]], second: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Return the sums of rows and bytes by kind."""
    none = [0, 0]
    return {
        kind: [sum(both) for both in zip(first.get(kind, none), second.get(kind, none), strict=True)]
        for kind in {**first, **second}
    }


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
