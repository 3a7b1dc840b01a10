"""Check the database and Redis for readiness, at most every few seconds in each process."""

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

CACHED_S: Final = 3.0

RedisHealth = Literal["ok", "unwritable", "unavailable", "none"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Health:
    """Hold the states of the database and of Redis."""

    database: DatabaseHealth
    redis: RedisHealth


class ServiceHealth:
    """Cache the health of the service. Each change is logged once. Thread-safe."""

    def __init__(
        self, database: Database, redis: Redis | None, *, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._check, self._redis, self._seconds = HealthCheck(database), redis, seconds
        self._lock = threading.Lock()
        self._checked_at = float("-inf")
        self._health = Health(DatabaseHealth.OK, "ok" if redis else "none")

    def read(self) -> Health:
        """Return the health, which is at most ``CACHED_S`` old."""
        with self._lock:
            if self._seconds() - self._checked_at >= CACHED_S:
                self._update(Health(self._check.run(), check_redis(self._redis)))
                self._checked_at = self._seconds()
            return self._health

    def _update(self, health: Health) -> None:
        before, self._health = self._health, health
        for part in ("database", "redis"):
            was, now = getattr(before, part), getattr(health, part)
            if was != now:
                level = logging.INFO if now == "ok" else logging.ERROR
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
