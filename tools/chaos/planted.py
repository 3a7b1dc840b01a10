"""Plant a fault in the code of one process, to prove that the campaign notices it. No product code knows of this.

Each fault is a function that replaces a part of the service in this process, before the service's own main module
runs; ``entry`` calls it. Modules are imported inside these functions, because one of the faults must come before them.

A fault that no longer meets the code fails: planting it, if the part has gone or takes other parameters; the scenario
that shows it, if the part was never called.
"""

import asyncio
import inspect
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, Final

from sqlalchemy import Engine, and_, delete, event, insert, text, update

from referee.db import leases
from referee.db.clock import SystemClock
from referee.db.engine import Database, get_database

ACTED: Final = "planted_fault_acted"  # the line that a process writes to its log when it first runs the fault


def replace(owner: Any, name: str, fault: Callable[..., Any]) -> None:
    """Replace a function of a module or class, and write ``ACTED`` when the replacement is first called.

    Raise ``AttributeError`` if there is none, and ``TypeError`` if it takes other parameters than ``fault``.
    """
    parameters = list(inspect.signature(getattr(owner, name)).parameters)
    if parameters != list(inspect.signature(fault).parameters):
        raise TypeError(f"{owner.__name__}.{name} takes {', '.join(parameters)}; change the planted fault accordingly")

    def act(*args: Any, **kwargs: Any) -> Any:
        write_acted()
        return fault(*args, **kwargs)

    setattr(owner, name, act)


def write_acted() -> None:
    """Write to the log of this process, once, that the fault has acted."""
    global _has_acted
    if not _has_acted:
        with suppress(OSError):  # the disk may be full
            os.write(sys.stderr.fileno(), f"{ACTED}\n".encode())
            _has_acted = True


_has_acted = False


# -- the faults --


def skip_epoch_check() -> None:
    """Accept every write to a claimed match, of any runner. Statements are compiled when modules are imported."""

    def fence(self: Any, key: Any, epoch: Any) -> Any:
        return and_(self._key == key, self._state == self._claimed)

    def matches_any(self: Any, claims: Any) -> Any:
        return and_(self._key.in_([key for key, _ in claims]), self._state == self._claimed)

    replace(leases.Leases, "fence", fence)
    replace(leases.Leases, "_matches_any", matches_any)


def store_result_twice() -> None:
    """Store results again, as if the answer to their commit had been lost. ``allow_two_results`` prepares the table."""
    from referee.matches.tables import Result
    from referee.workflows.ending import match_end

    finish = match_end.finish_matches
    columns = [column.name for column in Result.__table__.columns if column.name != "seq"]

    def finish_twice(session: Any, finished: Any, *, master_key: bytes) -> Any:
        ends = finish(session, finished, master_key=master_key)
        rows = [{name: getattr(end.result, name) for name in columns} for end in ends]
        session.execute(insert(Result.__table__), rows)
        return ends

    replace(match_end, "finish_matches", finish_twice)


def rate_in_own_transaction() -> None:
    """Enter results into the ledger in a transaction of their own, shortly after that of the result."""
    from referee.ladders import ledger

    enter = ledger.enter_results

    def enter_later(session: Any, results: Any) -> dict[str, Any]:
        url = get_database(session).url

        def run() -> None:
            with Database(url.render_as_string(hide_password=False)).write() as own:
                ledger.lock_ledger(own)
                enter(own, results)

        threading.Timer(1.0, run).start()
        return {}

    replace(ledger, "enter_results", enter_later)


def lease_by_wall_clock() -> None:
    """Set and compare leases by the wall clock of the host."""
    replace(SystemClock, "boot", lambda self: ("boot", self.utc_now().timestamp()))


def commit_without_flush() -> None:
    """Let PostgreSQL acknowledge commits before they are on disk."""

    @event.listens_for(Engine, "connect")
    def stop_flushing(connection: Any, _: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = off")
        connection.commit()
        write_acted()


def ask_before_commit() -> None:
    """Continue a match before its last answer is committed."""
    from workers.database_thread import DatabaseThread, JobStep, _Job

    async def record(self: DatabaseThread, update: Any) -> None:
        self._submit(_Job(JobStep.RECORD, update, "write")).add_done_callback(lambda done: done.exception())

    replace(DatabaseThread, "record", record)


def swallow_timeouts() -> None:
    """Continue a match although its last answer could not be recorded in time."""
    from referee.errors import Unavailable
    from workers.database_thread import DatabaseThread, JobStep

    def run_alone(self: DatabaseThread, job: Any, error: Exception | None) -> Exception | None:
        error = self._attempt([job]) if error is None else error
        return job.error if isinstance(error, Unavailable) and job.step == JobStep.RECORD else error or job.error

    replace(DatabaseThread, "_run_alone", run_alone)


def begin_lost_matches_anew() -> None:
    """Discard the recorded rows of a match when another runner claims it."""
    from referee.matches.queue import claims
    from referee.matches.tables import LogRow, SealedAnswer, StoredMatch

    claim_found = claims.claim_found

    @wraps(claim_found)
    def claim_anew(session: Any, *args: Any, **kwargs: Any) -> Any:
        taken = claim_found(session, *args, **kwargs)
        again = [claimed.claim.match_id for claimed in taken if claimed.claim.epoch > 1]
        for table in (LogRow, SealedAnswer):
            session.execute(delete(table).where(table.match_id.in_(again)))
        session.execute(update(StoredMatch).where(StoredMatch.id.in_(again)).values(rows=0))
        return taken

    replace(claims, "claim_found", claim_anew)


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

    replace(match_runner._MatchSession, "_ask", ask_locked)


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
    """Remove the constraint that a match has one result, while the table is empty. Raise if there is none."""
    constraint = "CONSTRAINT uq_results_match_id"
    with database.write() as session:
        if not database.is_sqlite:
            session.execute(text(f"ALTER TABLE results DROP {constraint}"))
            return
        wanted = text("SELECT sql FROM sqlite_master WHERE tbl_name = 'results' AND sql IS NOT NULL")
        parts: Sequence[str] = session.scalars(wanted).all()
        definitions = [part.replace(f", \n\t{constraint} UNIQUE (match_id)", "") for part in parts]
        if definitions == parts:
            raise AssertionError(f"the table results has no {constraint}; change allow_two_results accordingly")
        session.execute(text("DROP TABLE results"))
        for definition in definitions:
            session.execute(text(definition))
