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
from referee.runtime.open_files import count_open_files
from workers.reports import QUEUE_EXPIRES_S, read_reports

CACHED_S: Final = 3.0

RedisHealth = Literal["ok", "unwritable", "unavailable", "none"]
QueueHealth = Literal["ok", "stalled", "unwatched", "unknown"]
ResourceHealth = Literal["ok", "short"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Health:
    """Hold the states of the parts of the service.

    ``files`` concerns this process, ``runners`` all workers. ``stalled_s`` is for how long matches have waited although
    they could be claimed. ``workers`` is None without Redis.
    """

    database: DatabaseHealth
    redis: RedisHealth
    files: ResourceHealth
    queue: QueueHealth = "unknown"
    stalled_s: int | None = None
    workers: int | None = None
    runners: ResourceHealth = "ok"
    shortages: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether everything works, apart from the database."""
        is_moving = self.queue in ("ok", "unknown")
        return self.redis == "ok" and is_moving and self.files == self.runners == "ok"


class ServiceHealth:
    """Cache the health of the service. Each change is logged once. Thread-safe."""

    def __init__(
        self, database: Database, redis: Redis | None, *, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._check, self._redis, self._seconds = HealthCheck(database), redis, seconds
        self._lock = threading.Lock()
        self._checked_at = float("-inf")
        self._created_at = seconds()
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
            return Health(database, redis, own)
        try:
            reports = read_reports(self._redis)
        except RedisError:
            return Health(database, "unavailable", own)
        queue: QueueHealth = "ok"
        if reports.queue is None:  # a scheduler needs a moment after the start of the service
            is_starting = self._seconds() - self._created_at < QUEUE_EXPIRES_S
            queue = "unknown" if is_starting or database != DatabaseHealth.OK else "unwatched"
        elif reports.queue.stalled_s is not None:
            queue = "stalled"
        return Health(
            database,
            redis,
            own,
            queue=queue,
            stalled_s=reports.queue.stalled_s if reports.queue else None,
            workers=reports.workers,
            runners="short" if reports.shortages else "ok",
            shortages=tuple(reports.shortages),
        )

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
