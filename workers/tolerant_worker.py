"""Extend RQ's worker so that it survives a Redis that is lost or refuses writes, because it is full or a replica.

RQ tolerates lost connections in some places, but refused writes nowhere. Matches in progress need no Redis.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, Final, TypeVar

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, Worker, worker_registration
from rq.job import Job

T = TypeVar("T")

RECONNECT_S: Final = 1.0
WARN_EVERY_S: Final = 60.0

log = logging.getLogger(__name__)


class RedisWrites:
    """Log that Redis fails this process, once a minute while it does, and once when it stores something again."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._warned_at: float | None = None  # None while Redis does not fail

    @contextmanager
    def tolerate(self) -> Iterator[None]:
        """Ignore errors of Redis in the block, apart from the log."""
        try:
            yield
        except RedisError as error:
            self.note_failure(error)

    def note_failure(self, error: RedisError) -> None:
        """Note that something could not be read or written."""
        now = self._seconds()
        if self._warned_at is None or now - self._warned_at >= WARN_EVERY_S:
            log.warning("redis_writes_failed", extra={"reason": str(error)})
            self._warned_at = now

    def note_success(self) -> None:
        """Note that something was written."""
        if self._warned_at is not None:
            log.info("redis_writes_resumed")
        self._warned_at = None


def _tolerant(method: Callable[..., None]) -> Callable[..., None]:
    """Return a method of RQ's worker that ignores errors of Redis, apart from the log."""

    @wraps(method)
    def call(worker: "TolerantWorker", *arguments: Any, **options: Any) -> None:
        with worker.redis_writes.tolerate():
            method(worker, *arguments, **options)

    return call


class TolerantWorker(Worker):
    """Continue when Redis fails, and register again when it is back."""

    register_death = _tolerant(Worker.register_death)
    check_for_suspension = _tolerant(Worker.check_for_suspension)
    run_maintenance_tasks = _tolerant(Worker.run_maintenance_tasks)
    set_state = _tolerant(Worker.set_state)
    set_shutdown_requested_date = _tolerant(Worker.set_shutdown_requested_date)
    set_current_job_working_time = _tolerant(Worker.set_current_job_working_time)
    handle_execution_ended = _tolerant(Worker.handle_execution_ended)
    handle_job_success = _tolerant(Worker.handle_job_success)
    handle_job_failure = _tolerant(Worker.handle_job_failure)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.redis_writes = RedisWrites()
        super().__init__(*arguments, **options)

    def register_birth(self) -> None:
        """Register this worker. Wait until Redis accepts that."""
        register = super().register_birth

        def register_anew() -> None:
            self.connection.delete(self.key)  # an earlier attempt may have succeeded although its answer was lost
            register()  # type: ignore[no-untyped-call]  # of RQ

        self._repeat_until_stored(register_anew)

    def _set_ip_address(self, connection: Redis) -> None:
        """Ask Redis for the address of this worker. Wait until it answers."""
        self._repeat_until_stored(partial(super()._set_ip_address, connection))

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        return self._repeat_until_stored(partial(super().dequeue_job_and_maintain_ttl, timeout, max_idle_time))

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Send a heartbeat of this worker, and register it again if Redis has forgotten it."""
        if pipeline is not None:
            super().heartbeat(timeout, pipeline)
            return
        with self.redis_writes.tolerate():
            super().heartbeat(timeout)
            self._note_heartbeat()

    def maintain_heartbeats(self, job: Job) -> None:
        """Send the heartbeats of this worker and of the job while a work-horse runs."""
        with self.redis_writes.tolerate():
            super().maintain_heartbeats(job)
            self._note_heartbeat()

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """Log why a job failed. If Redis refused to store that it begins, only the wake-up is lost."""
        if isinstance(exc_info[1], RedisError):
            self.redis_writes.note_failure(exc_info[1])
        else:
            super().handle_exception(job, *exc_info)

    def _repeat_until_stored(self, step: Callable[[], T]) -> T:
        """Return the result of ``step``, which is called until Redis does not fail."""
        while True:
            try:
                return step()
            except RedisError as error:
                self.redis_writes.note_failure(error)
                time.sleep(RECONNECT_S)

    def _note_heartbeat(self) -> None:
        """Note that Redis stores something. Register again after it has lost its data or refused writes for long."""
        self.redis_writes.note_success()
        with self.connection.pipeline(transaction=False) as pipeline:
            pipeline.hexists(self.key, "birth")
            pipeline.sismember(worker_registration.WORKERS_BY_QUEUE_KEY % self.queues[0].name, self.key)
            if all(pipeline.execute()):
                return
        with self.connection.pipeline() as pipeline:
            pipeline.hset(self.key, mapping=self.serialize())
            worker_registration.register(self, pipeline)
            pipeline.expire(self.key, self.worker_ttl + 60)
            pipeline.execute()
