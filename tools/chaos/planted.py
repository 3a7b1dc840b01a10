"""Plant a fault in the code of one process, to prove that the campaign notices it. No product code knows of this.

Each fault is a function that replaces a part of the service in this process, before the service's own main module
runs; ``entry`` calls it. Modules are imported inside these functions, because one of the faults must come before them.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import and_, delete, text, update

from referee.db import leases
from referee.db.clock import SystemClock
from referee.db.engine import Database, get_database


def skip_epoch_check() -> None:
    """Accept every write to a claimed match, of any runner. Statements are compiled when modules are imported."""
    leases.Leases.fence = lambda self, key, epoch: and_(  # type: ignore[method-assign]
        self._key == key, self._state == self._claimed
    )
    leases.Leases._matches_any = lambda self, claims: and_(  # type: ignore[method-assign]
        self._key.in_([key for key, _ in claims]), self._state == self._claimed
    )


def store_result_twice() -> None:
    """Store a result again, as if the answer to its commit had been lost. ``allow_two_results`` prepares the table."""
    from referee.workflows import match_end

    enter = match_end._enter_result

    def enter_twice(session: Any, match: Any, master_key: bytes) -> Any:
        result = enter(session, match, master_key)
        match_end._ADD_RESULT.rows(session, match.result)
        return result

    match_end._enter_result = enter_twice


def rate_in_own_transaction() -> None:
    """Enter results into the ledger in a transaction of their own, shortly after that of the result."""
    from referee.ladders import ledger

    enter = ledger.enter_results

    def enter_later(session: Any, results: Any) -> None:
        url = get_database(session).url

        def run() -> None:
            with Database(url.render_as_string(hide_password=False)).write() as own:
                ledger.lock_ledger(own)
                enter(own, results)

        threading.Timer(1.0, run).start()

    ledger.enter_results = enter_later


def lease_by_wall_clock() -> None:
    """Set and compare leases by the wall clock of the host."""
    SystemClock.boot = lambda self: ("boot", self.utc_now().timestamp())  # type: ignore[method-assign]


def commit_without_flush() -> None:
    """Let PostgreSQL acknowledge commits before they are on disk."""
    os.environ["PGOPTIONS"] = "-c synchronous_commit=off"


def ask_before_commit() -> None:
    """Continue a match before its last answer is committed."""
    from workers.database_thread import DatabaseThread, JobStep, _Job

    async def record(self: DatabaseThread, update: Any) -> None:
        self._submit(_Job(JobStep.RECORD, update, "write")).add_done_callback(lambda done: done.exception())

    DatabaseThread.record = record  # type: ignore[method-assign]


def swallow_timeouts() -> None:
    """Continue a match although its last answer could not be recorded in time."""
    from referee.errors import Unavailable
    from workers.database_thread import DatabaseThread, JobStep

    def run_alone(self: DatabaseThread, job: Any, error: Exception | None) -> Exception | None:
        error = self._attempt([job]) if error is None else error
        return job.error if isinstance(error, Unavailable) and job.step == JobStep.RECORD else error or job.error

    DatabaseThread._run_alone = run_alone  # type: ignore[method-assign]


def begin_lost_matches_anew() -> None:
    """Discard the recorded rows of a match when another runner claims it."""
    from referee.matches import claims
    from referee.matches.tables import LogRow, SealedAnswer, StoredMatch

    claim_matches = claims.claim_matches

    def claim_anew(session: Any, *args: Any, **kwargs: Any) -> Any:
        taken = claim_matches(session, *args, **kwargs)
        again = [claim.match_id for claim in taken if claim.epoch > 1]
        for table in (LogRow, SealedAnswer):
            session.execute(delete(table).where(table.match_id.in_(again)))
        session.execute(update(StoredMatch).where(StoredMatch.id.in_(again)).values(rows=0))
        return taken

    claims.claim_matches = claim_anew


def ask_in_transaction() -> None:
    """Keep the row of a match locked while one of its bots thinks."""
    from referee.matches.tables import StoredMatch
    from workers import match_runner

    ask = match_runner._MatchSession._ask

    async def ask_locked(self: Any, request: Any) -> Any:
        locked, answered = threading.Event(), threading.Event()
        database = Database.from_settings(_settings())

        def hold() -> None:
            try:
                with database.write(idle_s=60) as session:
                    this = StoredMatch.id == self._loaded.id
                    session.execute(update(StoredMatch).where(this).values(rows=StoredMatch.rows))
                    locked.set()
                    answered.wait()
            finally:
                locked.set()
                database.dispose()

        holder = threading.Thread(target=hold, daemon=True)
        holder.start()
        await asyncio.to_thread(locked.wait)
        try:
            return await ask(self, request)
        finally:
            answered.set()
            await asyncio.to_thread(holder.join)

    match_runner._MatchSession._ask = ask_locked  # type: ignore[method-assign]


def _settings() -> Any:
    from referee.settings import Settings

    return Settings.load()


FAULTS: Final[dict[str, Callable[[], None]]] = {
    "no epoch check": skip_epoch_check,
    "no unique result": store_result_twice,
    "rating outside the transaction": rate_in_own_transaction,
    "wall-clock lease": lease_by_wall_clock,
    "commit not flushed": commit_without_flush,
    "asked before the commit": ask_before_commit,
    "swallowed timeout": swallow_timeouts,
    "replay from scratch": begin_lost_matches_anew,
    "lock held across a question": ask_in_transaction,
}


def allow_two_results(database: Database) -> None:
    """Remove the constraint that a match has one result, while the table is empty."""
    constraint = "CONSTRAINT uq_results_match_id"
    with database.write() as session:
        if not database.is_sqlite:
            session.execute(text(f"ALTER TABLE results DROP {constraint}"))
            return
        parts = session.scalars(text("SELECT sql FROM sqlite_master WHERE tbl_name = 'results' AND sql IS NOT NULL"))
        definitions = [part.replace(f", \n\t{constraint} UNIQUE (match_id)", "") for part in parts]
        session.execute(text("DROP TABLE results"))
        for definition in definitions:
            session.execute(text(definition))
