"""Run all transactions of a runner in one thread.

Each transaction contains all work requested during the last one. Matches wait for commits, and a commit waits for the
disk. With one transaction for all matches, they wait together.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from enum import IntEnum
from queue import SimpleQueue
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy.orm import Session

from referee.db.engine import Database
from referee.errors import StaleEpoch, Unavailable
from referee.matches.logs.recording import MatchUpdate, record_batch
from referee.metrics import catalog
from referee.metrics.process_metrics import ProcessMetrics
from referee.workflows.ending import match_end
from referee.workflows.ending.match_end import FinishedMatch, MatchEnd

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
RETRY_S: Final = 0.2  # between two attempts while the database is not available


class JobStep(IntEnum):
    """Define the order of the work in a transaction. The lock for results comes last, since all runners wait for it."""

    RECORD = 1
    CALL = 2
    FINISH = 3


class _Job:
    """Hold one request: its step, its work, and the future that the requesting task awaits."""

    __slots__ = ("error", "future", "needs", "result", "step", "work")

    def __init__(self, step: JobStep, work: Any, needs: str) -> None:
        self.step = step
        self.work = work  # a MatchUpdate, a function of the session, or a FinishedMatch
        self.needs = needs  # "read", "write" or "durable"
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.result: Any = None
        self.error: Exception | None = None


class DatabaseThread:
    """Run transactions in a thread on behalf of a runner's event loop, so that they delay no deadline.

    Work that arrives during one transaction forms the next. If anything in a transaction fails, it is rolled back and
    each request is repeated in its own transaction, so that an error affects no other request.
    """

    def __init__(self, database: Database, *, master_key: bytes, metrics: ProcessMetrics | None = None) -> None:
        self._metrics = metrics or ProcessMetrics()
        self._connection = database.keep_connection()
        self._master_key = master_key
        self._waiting: list[_Job] = []
        self._busy = False  # the thread has work, or is about to be given some
        self._gave_up = threading.Event()
        self._batches: SimpleQueue[list[_Job] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def record(self, update: MatchUpdate) -> None:
        """Record an update and return when it is committed. Raise ``StaleEpoch`` if the claim is no longer valid.

        A committed update survives the crash of any process, and on PostgreSQL also a power cut. While the database is
        not available, wait. No bot is asked anything meanwhile.
        """
        await self._submit(_Job(JobStep.RECORD, update, "write"))

    async def finish(self, match: FinishedMatch) -> MatchEnd:
        """End a match durably and return its end. Raise ``StaleEpoch`` if the claim is no longer valid.

        While the database is not available, wait: another runner would ask the last question again.
        """
        end: MatchEnd = await self._submit(_Job(JobStep.FINISH, match, "durable"))
        return end

    async def read(self, operation: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call ``operation(session, …)``, which only reads, in a transaction."""
        return await self._call("read", operation, *args, **kwargs)

    async def write(self, operation: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call ``operation(session, …)`` in a durable transaction."""
        return await self._call("durable", operation, *args, **kwargs)

    async def write_soon(self, operation: Callable[Concatenate[Session, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call ``operation(session, …)`` in a transaction that a power cut may undo on SQLite."""
        return await self._call("write", operation, *args, **kwargs)

    def give_up(self) -> None:
        """Stop repeating failed attempts. From now on, ``record`` and ``finish`` raise ``Unavailable``, too."""
        self._gave_up.set()

    def close(self) -> None:
        """End the thread after its current transaction."""
        if self._thread is not None:
            self._batches.put(None)
            self._thread.join()
            self._thread = None

    # -- in the event loop --

    async def _call(self, needs: str, operation: Callable[..., R], *args: Any, **kwargs: Any) -> R:
        result: R = await self._submit(_Job(JobStep.CALL, lambda session: operation(session, *args, **kwargs), needs))
        return result

    def _submit(self, job: _Job) -> asyncio.Future[Any]:
        self._waiting.append(job)
        if not self._busy:
            self._busy = True
            self._gather_batch(asyncio.get_running_loop(), 0)
        return job.future

    def _gather_batch(self, loop: asyncio.AbstractEventLoop, known: int) -> None:
        """Start a batch after the first turn of the loop that brings no more work than the ``known`` jobs.

        A transaction and the loop's other work slow each other down, since they share the interpreter lock. So answers
        that have arrived already are handled first, which also makes batches larger.
        """
        if len(self._waiting) > known:
            loop.call_soon(self._gather_batch, loop, len(self._waiting))
        else:
            self._start_batch()

    def _start_batch(self) -> None:
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._serve, args=(loop,), name="database", daemon=True)
            self._thread.start()
        batch, self._waiting = self._waiting, []
        self._batches.put(batch)

    def _resolve(self, batch: Sequence[_Job]) -> None:
        for job in batch:
            if job.future.done():  # cancelled
                continue
            if job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)
        self._busy = bool(self._waiting)
        if self._busy:
            self._gather_batch(asyncio.get_running_loop(), 0)

    # -- in the thread --

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        while (batch := self._batches.get()) is not None:
            batch.sort(key=lambda job: job.step)
            self._run(batch)
            loop.call_soon_threadsafe(self._resolve, batch)
        self._connection.close()

    def _run(self, jobs: Sequence[_Job]) -> None:
        """Run the jobs that only read, then the others, so that no reading holds up other writers."""
        for is_read in (True, False):
            if portion := [job for job in jobs if (job.needs == "read") == is_read]:
                self._run_together(portion)

    def _run_together(self, jobs: Sequence[_Job]) -> None:
        """Run the jobs in one transaction. If that fails, run each in its own transaction."""
        error = self._attempt(jobs)
        if error is None:
            return
        outage: Exception | None = None
        for job in jobs:
            if outage is not None and job.step == JobStep.CALL:
                job.error = outage  # instead of another long wait for the lock
                continue
            job.error = self._run_alone(job, error if len(jobs) == 1 else None)
            if isinstance(job.error, Unavailable):
                outage = job.error

    def _run_alone(self, job: _Job, error: Exception | None) -> Exception | None:
        """Run one job in its own transaction and return its error, or None.

        ``error`` is that of an earlier attempt. Jobs that store rows or results are attempted again until the database
        is available or the runner gives up.
        """
        while True:
            error = self._attempt([job]) if error is None else error
            if not isinstance(error, Unavailable) or job.step == JobStep.CALL:
                return error or job.error
            log.warning("database_unavailable", extra={"reason": str(error)})
            if self._gave_up.wait(RETRY_S):
                return error
            error = None

    def _attempt(self, jobs: Sequence[_Job]) -> Exception | None:
        """Run the jobs in one transaction. Return the error that undid it, or None."""
        for job in jobs:
            job.result = job.error = None
        try:
            self._run_in_transaction(jobs)
        except Exception as error:  # noqa: BLE001  # passed on to the task whose job failed
            return error
        return None

    def _run_in_transaction(self, jobs: Sequence[_Job]) -> None:
        needs, began = {job.needs for job in jobs}, time.perf_counter()
        access = "read" if needs == {"read"} else "write"
        if access == "read":
            with self._connection.read() as session:
                self._run_steps(session, jobs)
        else:
            with self._connection.write(durable="durable" in needs) as session:
                self._run_steps(session, jobs)
        self._metrics.observe(catalog.TRANSACTIONS, time.perf_counter() - began, access)
        self._metrics.count(catalog.TRANSACTION_JOBS, access, by=len(jobs))

    def _run_steps(self, session: Session, jobs: Sequence[_Job]) -> None:
        updates = [job.work for job in jobs if job.step == JobStep.RECORD]
        stale = record_batch(session, updates) if updates else set()
        for job in jobs:
            if job.step == JobStep.RECORD and job.work.match_id in stale:
                job.error = StaleEpoch(f"match {job.work.match_id} was claimed by another runner")
            elif job.step == JobStep.CALL:
                job.result = job.work(session)
                if session.in_transaction():  # it used the ORM
                    session.flush()
                    session.expunge_all()  # as if each job had its own session
        if ended := [job for job in jobs if job.step == JobStep.FINISH]:
            ends = match_end.finish_matches(session, [job.work for job in ended], master_key=self._master_key)
            for job, end in zip(ended, ends, strict=True):
                job.result = end
