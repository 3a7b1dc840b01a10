"""Define the RQ jobs that run in a work-horse."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from rq import get_current_job

from referee.db import prepared, revisions
from referee.db.engine import Database
from referee.errors import Unavailable
from referee.matches.queue import claims
from referee.runtime import worker_pause
from referee.settings import Settings
from workers import claim_file
from workers.clock_watch import ClockWatch
from workers.runner import Runner
from workers.runner_counters import RunnerCounters

log = logging.getLogger(__name__)

_shortage_reports: list[Callable[[str], None]] = []
_preloaded: list[tuple[Database, ClockWatch]] = []  # filled before work-horses are forked


def preload(database: Database) -> None:
    """Use this database in work-horses forked from now on, with the statements of runners compiled. Watch the clock.

    Compiling them in each work-horse would take 30 ms.
    """
    _preloaded.append((database, ClockWatch.for_database(database)))
    prepared.compile_all(database.dialect)
    try:
        with database.read() as session:
            claims.find_due_work(session)
    except Unavailable:
        pass  # the work-horses compile their own
    finally:
        database.dispose()  # forked children cannot use its connections


def watch_clock() -> None:
    """Note whether the clock has jumped, for the work-horses that are forked from now on."""
    for _, clock in _preloaded:
        clock.ahead_s()


def report_shortages(report: Callable[[str], None]) -> None:
    """Call ``report`` with the reason when the runner of this work-horse lacks resources."""
    _shortage_reports.append(report)


def run_due() -> dict[str, Any]:
    """Run all work that is due: matches, handshakes, checks and work of extras. Return what was done, for RQ."""
    return _run(None)


def run_alone(match_id: str) -> dict[str, Any]:
    """Play only this match, which other runners lost, so that a crash affects no other match."""
    return _run(match_id)


def _run(match_id: str | None) -> dict[str, Any]:
    database, clock = _preloaded[-1]
    try:
        if (reason := _find_obstacle(database)) is not None:
            log.warning("runner_not_started", extra={"reason": reason})
            return RunnerCounters(ended=reason).to_json()
        runner = Runner(
            Settings.load(),
            database,
            record_claims=claim_file.record_claims,
            clock=clock,
            report_shortage=_shortage_reports[-1],
        )
        return asyncio.run(runner.run_in_worker(match_id=match_id)).to_json()
    finally:
        database.dispose()


def _find_obstacle(database: Database) -> str | None:
    """Return why this runner must not play: the schema is being upgraded, or is no longer that of this program."""
    job = get_current_job()
    if job is not None and worker_pause.is_paused(job.connection):
        return "the schema is being upgraded"
    try:
        revisions.check(database)
    except revisions.WrongSchema as error:
        return str(error)
    except Unavailable:
        pass  # the runner waits for the database
    return None
