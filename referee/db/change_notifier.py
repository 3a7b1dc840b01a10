"""Notify readers through a Redis stream that the database has changed.

A notification carries no content: it only means that reading the database now is worthwhile. It may be lost,
duplicated or late. Without Redis, readers poll the database.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

STREAM: Final = "referee:changes"
MAX_STREAM_LENGTH: Final = 100  # notifications in the stream; nobody reads old ones
MIN_INTERVAL_S: Final = 0.02  # between two notifications; changes in this interval share one
RECONNECT_S: Final = 1.0  # before the next attempt to reach Redis
BLOCK_S: Final = 5.0


def connect(redis_url: str) -> Redis:
    """Return a client whose timeouts allow a blocking read of ``BLOCK_S`` seconds."""
    return Redis.from_url(redis_url, socket_connect_timeout=2.0, socket_timeout=BLOCK_S + 2.0)


class ChangeNotifier:
    """Publish change notifications from a background thread. Callers never wait; an outage of Redis is only logged."""

    def __init__(self, redis: Redis | None) -> None:
        self._redis = redis
        self._changed = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def notify(self) -> None:
        """Publish that the database has changed. Call this after the commit."""
        if self._redis is None:
            return
        self._changed.set()
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._publish_loop, args=(self._redis,), name="announcer", daemon=True
                )
                self._thread.start()

    def _publish_loop(self, redis: Redis) -> None:
        while self._changed.wait():
            self._changed.clear()
            try:
                redis.xadd(STREAM, {"at": f"{time.time():.3f}"}, maxlen=MAX_STREAM_LENGTH, approximate=True)
                time.sleep(MIN_INTERVAL_S)
            except RedisError as error:
                log.info("change_notification_failed", extra={"reason": str(error)})
                time.sleep(RECONNECT_S)


def listen(redis: Redis, on_change: Callable[[], None], stopped: threading.Event) -> None:
    """Call ``on_change`` for each new notification until ``stopped`` is set. Reconnect after an outage of Redis."""
    last = "$"
    while not stopped.is_set():
        try:
            received = redis.xread({STREAM: last}, block=int(BLOCK_S * 1000))
        except RedisError as error:
            log.info("change_notifications_unavailable", extra={"reason": str(error)})
            last = "$"
            stopped.wait(RECONNECT_S)
            continue
        if received:
            last = _last_id(received)
            on_change()


def _last_id(received: object) -> str:
    """Return the id of the last message, from a reply in either version of the Redis protocol."""
    streams = list(received.values()) if isinstance(received, dict) else [messages for _, messages in received]  # type: ignore[attr-defined]  # redis types its replies as Any or awaitable
    messages = streams[0]
    if messages and isinstance(messages[0], list):  # RESP3 nests the messages one level deeper
        messages = messages[0]
    id = messages[-1][0]
    return id.decode() if isinstance(id, bytes) else str(id)
