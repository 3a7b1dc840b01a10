"""Word that the record has changed, from those who write it to those who show it, through a Redis stream.

What changed stands in the record: a word may be lost, doubled or late, and without Redis whoever shows the record
looks at it again and again. So a word says nothing but that it is worth looking now.
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
KEPT: Final = 100  # words; nobody reads old ones
GAP_S: Final = 0.02  # between two words: what changes meanwhile is one word
PAUSE_S: Final = 1.0  # after Redis could not be reached
BLOCK_S: Final = 5.0


def connect(redis_url: str) -> Redis:
    """A client whose time limits leave room for a wait of ``BLOCK_S``."""
    return Redis.from_url(redis_url, socket_connect_timeout=2.0, socket_timeout=BLOCK_S + 2.0)


class Announcer:
    """Says that something has changed; never waits and never fails. The words are spoken by a thread of its own."""

    def __init__(self, redis: Redis | None) -> None:
        self._redis = redis
        self._word = threading.Event()
        self._speaking = threading.Lock()
        self._thread: threading.Thread | None = None

    def say(self) -> None:
        """To be called after the commit."""
        if self._redis is None:
            return
        self._word.set()
        with self._speaking:
            if self._thread is None:
                self._thread = threading.Thread(target=self._speak, args=(self._redis,), name="announcer", daemon=True)
                self._thread.start()

    def _speak(self, redis: Redis) -> None:
        while self._word.wait():
            self._word.clear()
            try:
                redis.xadd(STREAM, {"at": f"{time.time():.3f}"}, maxlen=KEPT, approximate=True)
                time.sleep(GAP_S)
            except RedisError as error:
                log.info("change not announced", extra={"reason": str(error)})
                time.sleep(PAUSE_S)


def listen(redis: Redis, on_word: Callable[[], None], stopped: threading.Event) -> None:
    """Calls ``on_word`` at each word from now on, until stopped; while Redis is away there are none."""
    last = "$"
    while not stopped.is_set():
        try:
            heard = redis.xread({STREAM: last}, block=int(BLOCK_S * 1000))
        except RedisError as error:
            log.info("no word of changes, redis unreachable", extra={"reason": str(error)})
            last = "$"
            stopped.wait(PAUSE_S)
            continue
        if heard:
            last = _last_id(heard)
            on_word()


def _last_id(heard: object) -> str:
    """The id of the last word, in the form of either protocol version of Redis."""
    streams = list(heard.values()) if isinstance(heard, dict) else [words for _, words in heard]  # type: ignore[attr-defined]  # redis types its answers as Any or awaitable
    words = streams[0]
    if words and isinstance(words[0], list):  # protocol 3 nests them once more
        words = words[0]
    id = words[-1][0]
    return id.decode() if isinstance(id, bytes) else str(id)
