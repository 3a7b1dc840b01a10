"""Check what the service needs for readiness, at most every few seconds in each process."""

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from redis import Redis, RedisError
from redis.exceptions import OutOfMemoryError, ReadOnlyError, ResponseError

from referee.db.engine import Database
from referee.db.health import DatabaseHealth, HealthCheck
from referee.errors import Unavailable
from referee.runtime.open_files import count_open_files
from workers.queue_watch import QueueWatch
from workers.reports import QUEUE_EXPIRES_S, QueueReport, read_reports

CACHED_S: Final = 3.0
PLAY_STALLED_S: Final = 60  # time for which due work has to wait before the service counts as not playing
WORKERS_GONE_S: Final = 30  # time without a worker, such as a restart of the only one, before nothing counts as played

RedisHealth = Literal["ok", "unwritable", "unavailable", "none"]
QueueHealth = Literal["ok", "stalled", "unwatched", "unknown"]
ResourceHealth = Literal["ok", "short"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Health:
    """Hold the states of the parts of the service.

    ``files`` concerns this process, ``runners`` all workers. ``stalled_s`` is for how long due work (``stalled_what``)
    has waited although it could be claimed. ``workers`` is None without Redis; what waits is then what this process has
    seen in the database. ``workers_gone_s`` is for how long this process has seen no worker.
    """

    database: DatabaseHealth
    redis: RedisHealth
    files: ResourceHealth
    queue: QueueHealth = "unknown"
    stalled_s: int | None = None
    stalled_what: str = ""
    workers: int | None = None
    workers_gone_s: float = 0.0
    runners: ResourceHealth = "ok"
    shortages: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether everything works, apart from the database."""
        is_moving = self.queue in ("ok", "unknown")
        return self.redis == "ok" and is_moving and self.files == self.runners == "ok"


def find_play_obstacle(health: Health) -> str | None:
    """Return why nothing is played, as a sentence, or None if it is played as far as known."""
    if health.database != DatabaseHealth.OK:
        return f"The database is {health.database}, so nothing can be recorded."
    if health.workers == 0 and health.workers_gone_s >= WORKERS_GONE_S:
        return "No worker has sent a heartbeat, so nothing is played."
    if health.stalled_s is not None and health.stalled_s >= PLAY_STALLED_S:
        return f"For {health.stalled_s} s, {health.stalled_what} have been due and no worker has claimed any."
    return None


class ServiceHealth:
    """Cache the health of the service, whose runners have ``slots`` slots each. Log each change once. Thread-safe."""

    def __init__(
        self,
        database: Database,
        redis: Redis | None,
        *,
        slots: int = 100,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._check, self._redis, self._seconds = HealthCheck(database), redis, seconds
        self._database, self._watch = database, QueueWatch(None, slots, seconds=seconds)
        self._lock = threading.Lock()
        self._checked_at = float("-inf")
        self._created_at = seconds()
        self._workers_gone_since: float | None = None
        self._health = Health(DatabaseHealth.OK, "ok" if redis else "none", "ok")

    def read(self) -> Health:
        """Return the health, which is at most ``CACHED_S`` old."""
        with self._lock:
            if self._seconds() - self._checked_at >= CACHED_S:
                self._update(self._look())
                self._checked_at = self._seconds()
            return self._health

    def _look(self) -> Health:
        files = count_open_files()
        own: ResourceHealth = "short" if files is not None and files.is_low else "ok"
        database, redis = self._check.run(), check_redis(self._redis)
        if self._redis is None or redis != "ok":
            return self._without_reports(database, redis, own)
        try:
            reports = read_reports(self._redis)
        except RedisError:
            return self._without_reports(database, "unavailable", own)
        self._watch.workers = reports.workers
        queue: QueueHealth = "ok"
        if reports.queue is None:  # a scheduler needs a moment after the start of the service
            is_starting = self._seconds() - self._created_at < QUEUE_EXPIRES_S
            queue = "unknown" if is_starting or database != DatabaseHealth.OK else "unwatched"
        elif reports.queue.stalled_s is not None:
            queue = "stalled"
        report = reports.queue or self._watch_queue(database)
        return Health(
            database,
            redis,
            own,
            queue=queue,
            stalled_s=report.stalled_s,
            stalled_what=report.what,
            workers=reports.workers,
            workers_gone_s=self._count_gone_s(reports.workers),
            runners="short" if reports.shortages else "ok",
            shortages=tuple(reports.shortages),
        )

    def _count_gone_s(self, workers: int) -> float:
        if workers:
            self._workers_gone_since = None
            return 0.0
        if self._workers_gone_since is None:
            self._workers_gone_since = self._seconds()
        return self._seconds() - self._workers_gone_since

    def _without_reports(self, database: DatabaseHealth, redis: RedisHealth, files: ResourceHealth) -> Health:
        report = self._watch_queue(database)
        return Health(database, redis, files, stalled_s=report.stalled_s, stalled_what=report.what)

    def _watch_queue(self, database: DatabaseHealth) -> QueueReport:
        """Return the state of the queue as far as this process has seen it: nobody else tells it."""
        if database == DatabaseHealth.OK:
            try:
                self._watch.step(self._database)
            except Unavailable as error:
                log.warning("queue_not_read", extra={"reason": str(error)})
        return self._watch.report

    def _update(self, health: Health) -> None:
        before, self._health = self._health, health
        for part in ("database", "redis", "queue", "files", "runners"):
            was, now = getattr(before, part), getattr(health, part)
            if was != now and {was, now} != {"ok", "unknown"}:
                level = logging.INFO if now in ("ok", "unknown") else logging.ERROR
                log.log(level, f"{part}_health_changed", extra={"was": str(was), "now": str(now)})


def check_redis(connection: Any) -> RedisHealth:
    """Return whether Redis answers, and whether it can store something."""
    if connection is None:
        return "none"
    try:
        connection.set(f"referee:health:{os.getpid()}", b"1", ex=60)
    except (OutOfMemoryError, ReadOnlyError, ResponseError):
        return "unwritable"
    except RedisError:
        return "unavailable"
    return "ok"
