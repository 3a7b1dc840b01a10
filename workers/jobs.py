"""Define the RQ jobs that run in a work-horse."""

import asyncio
from collections.abc import Callable

from referee.db import prepared
from referee.db.engine import Database
from referee.errors import Unavailable
from referee.matches import claims
from referee.settings import Settings
from workers import claim_file, runner
from workers.clock_watch import ClockWatch

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


def run_due() -> None:
    """Run all work that is due: matches, handshakes, checks and deliveries."""
    _run(None)


def run_alone(match_id: str) -> None:
    """Play only this match, which other runners lost, so that a crash affects no other match."""
    _run(match_id)


def _run(match_id: str | None) -> None:
    settings = Settings.load()
    database, clock = _preloaded[-1] if _preloaded else (Database.from_settings(settings), None)
    try:
        asyncio.run(
            runner.run(
                settings,
                database,
                claim_file.record_claims,
                match_id=match_id,
                clock=clock,
                report_shortage=_shortage_reports[-1] if _shortage_reports else None,
            )
        )
    finally:
        database.dispose()
