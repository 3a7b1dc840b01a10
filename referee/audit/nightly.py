"""Audit a part of the database each night, in small steps that several schedulers may share.

A run belongs to a day. Its steps compare the logs of some matches each, and their signatures, from where the night
before ended; the last step looks for gaps in the chain of signatures and compares all ladders. Ladders whose numbers
differ are frozen, as by ``referee admin audit``.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from referee.audit import database_audit, repairs, stored_matches
from referee.audit.stored_ladders import check_ladders
from referee.db.engine import Database, count_changed_rows, current_time
from referee.ladders.tables import AuditRun

BEGINS: Final = timedelta(hours=3)  # after midnight in UTC
LOGS_PER_STEP: Final = 10
LOGS_PER_NIGHT: Final = 2_000
MAX_FINDINGS: Final = 20  # that are stored
ABANDONED: Final = timedelta(minutes=10)  # after which another scheduler continues a run


@dataclass(frozen=True, slots=True)
class AuditState:
    """Describe the last audit that was completed, and whether a later one has already found differences."""

    finished_at: datetime | None
    differences: int


def load_state(session: Session) -> AuditState:
    """Return the state of the last audits. Without any, ``finished_at`` is None."""
    last_two = session.scalars(select(AuditRun).order_by(AuditRun.day.desc()).limit(2)).all()
    finished = next((run for run in last_two if run.finished_at is not None), None)
    differences = max((run.differences for run in last_two if finished is None or run.day >= finished.day), default=0)
    return AuditState(None if finished is None else finished.finished_at, differences)


def find_run(session: Session) -> AuditRun | None:
    """Return the run of today, or None if it is too early for it or it has not been created."""
    return session.get(AuditRun, _day_of(current_time(session)))


def start_run(database: Database) -> AuditRun | None:
    """Create the run of today. Return None if another scheduler has just created it."""
    try:
        with database.write() as session:
            moment = current_time(session)
            last = session.scalar(select(AuditRun).order_by(AuditRun.day.desc()).limit(1))
            run = AuditRun(day=_day_of(moment), started_at=moment, updated_at=moment, finished_at=None)
            run.after, run.logs, run.differences, run.findings = last.after if last else "", 0, 0, []
            run.not_replayable = 0
            session.add(run)
    except IntegrityError:
        return None
    return run


def continue_run(database: Database, run: AuditRun) -> AuditRun | None:
    """Compare the next logs or, at the end, all ladders. Return the run as stored then.

    Return None if another scheduler continues it.
    """
    with database.read() as session:
        page = stored_matches.check_page(session, run.after, LOGS_PER_STEP)
        logs = run.logs + len(page.matches)
        is_last = page.last is None or logs >= LOGS_PER_NIGHT
        found = [*page.differences, *database_audit.check_links(session, page.matches)]
        if is_last:
            found += [*database_audit.check_gaps(session), *check_ladders(session)]
    values = {"after": page.last or "", "logs": logs, "not_replayable": run.not_replayable + page.not_replayable}
    values |= {"differences": run.differences + len(found)}
    values |= {"findings": [*run.findings, *map(str, found)][:MAX_FINDINGS]}
    with database.write() as session:
        moment = current_time(session)
        is_same = AuditRun.day == run.day, AuditRun.logs == run.logs, AuditRun.finished_at.is_(None)
        step = update(AuditRun).where(*is_same).values(values)
        if not count_changed_rows(session, step.values(updated_at=moment, finished_at=moment if is_last else None)):
            return None
        if found:
            repairs.freeze_ladders(session, found)
        return session.get_one(AuditRun, run.day, populate_existing=True)


def is_abandoned(session: Session, run: AuditRun) -> bool:
    """Return whether nobody has continued the run for so long that another scheduler should."""
    return bool(current_time(session) - run.updated_at > ABANDONED)


def _day_of(moment: datetime) -> date:
    """Return the day whose audit is due at this moment."""
    return (moment - BEGINS).date()
