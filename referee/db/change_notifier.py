"""Notify readers through a Redis stream that the database has changed.

A notification carries no content: it only means that reading the database now is worthwhile. It may be lost,
duplicated or late. Without Redis, readers poll the database.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from redis import Redis
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

STREAM: Final = "referee:changes"
MAX_STREAM_LENGTH: Final = 100  # notifications in the stream; nobody reads old ones
MIN_INTERVAL_S: Final = 0.02  # between two notifications; changes in this interval share one
RECONNECT_S: Final = 1.0  # before the next attempt to reach Redis
BLOCK_S: Final = 5.0
CLOSE_S: Final = 3.0  # how long ``close`` waits for a publication that does not end


def connect(redis_url: str) -> Redis:
    """Return a client whose timeouts allow a blocking read of ``BLOCK_S`` seconds."""
    return Redis.from_url(redis_url, protocol=2, socket_connect_timeout=2.0, socket_timeout=BLOCK_S + 2.0)


class ChangeNotifier:
    """Publish change notifications from a background thread. Callers never wait; an outage of Redis is logged once."""

    def __init__(self, redis: Redis | None) -> None:
        self._redis = redis
        self._is_due = False
        self._has_failed = False
        self._woken = threading.Event()
        self._closed = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def notify(self) -> None:
        """Publish that the database has changed. Call this after the commit. After ``close``, do nothing."""
        if self._redis is None:
            return
        self._is_due = True
        self._woken.set()
        with self._starting:
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(
                    target=self._publish_loop, args=(self._redis,), name="announcer", daemon=True
                )
                self._thread.start()

    def close(self) -> None:
        """Publish a change that is not published yet, and end the thread, so that the client of Redis can be closed."""
        with self._starting:
            self._closed.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join(CLOSE_S)

    def _publish_loop(self, redis: Redis) -> None:
        is_last = False
        while not is_last:
            self._woken.wait()
            self._woken.clear()
            is_last = self._closed.is_set()
            if self._is_due:
                self._is_due = False
                self._closed.wait(self._publish(redis))

    def _publish(self, redis: Redis) -> float:
        """Publish once. Return the seconds to wait before the next time."""
        try:
            redis.xadd(STREAM, {"at": f"{time.time():.3f}"}, maxlen=MAX_STREAM_LENGTH, approximate=True)
        except RedisError as error:
            if not self._has_failed:
                log.info("change_notification_failed", extra={"reason": str(error)})
            self._has_failed = True
            return RECONNECT_S
        self._has_failed = False
        return MIN_INTERVAL_S


def listen(redis: Redis, on_change: Callable[[], None], stopped: threading.Event) -> None:
    """Call ``on_change`` for each new notification until ``stopped`` is set. Reconnect after an outage of Redis."""
    last: Any = "$"
    while not stopped.is_set():
        try:
            received: Any = redis.xread({STREAM: last}, block=int(BLOCK_S * 1000))
        except RedisError as error:
            log.info("change_notifications_unavailable", extra={"reason": str(error)})
            last = "$"
            stopped.wait(RECONNECT_S)
            continue
        if received:
            ((_, messages),) = received
            last, _ = messages[-1]
            on_change()
