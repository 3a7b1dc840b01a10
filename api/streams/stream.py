"""Follow subjects of one kind (matches or tournaments): one thread reads the database for all of their viewers.

The id of a message is the position in the database up to which the viewer has received everything. A viewer that
reconnects with its last id gets all later messages from the database. Subclasses of ``Stream`` define the contents of
messages; ``stream_writer`` writes to connections.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from api.streams.stream_writer import HEARTBEAT, HEARTBEAT_S, MAX_BEHIND_BYTES, StreamConnections
from referee.db.engine import Database
from referee.errors import Unavailable

log = logging.getLogger(__name__)

Json = dict[str, Any]

POLL_S: Final = 1.0  # interval between polls of the database without a notification
MIN_INTERVAL_S: Final = 0.05  # least interval between polls
REST_FACTOR: Final = 10  # the result of a computation is reused for this many times its duration
KEEP_S: Final = 30.0  # time for which the state of a subject without viewers is kept
READY_S: Final = 15.0  # time limit of the first poll of a subject
RETRY_S: Final = 1.0  # delay after a failure
RECONNECT: Final = b": too many viewers are waiting; reconnect\n\n"
MAX_LAGGING: Final = 4  # viewers that may wait, each in a thread, until this process is as far as another


class StreamViewer:
    """Queue texts for a viewer that keeps a thread. End its response when it falls too far behind."""

    def __init__(self) -> None:
        self._texts: deque[tuple[bytes, bool]] = deque()
        self._changed = threading.Condition()
        self._behind = 0

    def put(self, text: bytes, *, last: bool) -> None:
        with self._changed:
            self._behind += len(text)
            if self._behind > MAX_BEHIND_BYTES:
                self._texts.clear()
                text, last = b"", True
            self._texts.append((text, last))
            self._changed.notify()

    def get(self, timeout_s: float = HEARTBEAT_S) -> tuple[bytes, bool]:
        """Return the next text and whether it is the last. Return a heartbeat if there is none within ``timeout_s``."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._texts, timeout_s):
                return HEARTBEAT, False
            text, last = self._texts.popleft()
            self._behind -= len(text)
            return text, last


@dataclass(eq=False, slots=True)
class Feed:
    """Hold the state of one subject that has viewers. Subclasses add what was sent to the viewers."""

    id: str
    viewers: int = 0
    waiting: set[StreamViewer] = field(default_factory=set)
    left_at: float = 0.0
    ready: bool = False  # the present state is known
    over: bool = False  # no messages will follow
    over_at: float = 0.0
    try_at: float = 0.0  # not polled before this time, because of a failure

    def is_kept(self, long_ago: float) -> bool:
        """Return whether the feed is still needed.

        A finished feed is dropped even if it has viewers: a voided match may change it, so it must be read again.
        """
        if self.over:
            return self.over_at > long_ago
        return bool(self.viewers) or self.left_at > long_ago


Accept = Callable[[bytes, bool], None]
F = TypeVar("F", bound=Feed)


class Stream(Generic[F]):
    """Stream all subjects of one kind that have viewers in this process.

    A subclass names the class of its feeds, and defines how feeds are updated (``_poll``) and which messages a new
    viewer receives first (``catch_up``).
    """

    feed_type: type[F]
    poll_s = POLL_S
    rest_factor = 0  # the next poll waits for this many times the duration of the last
    keep_s = KEEP_S
    max_lag_s = POLL_S * 2  # longest time by which another process may be ahead of this one

    def __init__(self, database: Database, connections: StreamConnections) -> None:
        self.database = database
        self.connections = connections
        self.stopped = threading.Event()
        self._feeds: dict[str, F] = {}
        self._changed = threading.Condition()
        self._notified = threading.Event()
        self.lagging = 0
        threading.Thread(target=self._poll_loop, name=type(self).__name__, daemon=True).start()

    def wake(self) -> None:
        """Poll the database now, since it may have changed."""
        self._notified.set()

    def close(self) -> None:
        """End the polling, and the responses of viewers that keep threads."""
        self.stopped.set()
        self._notified.set()
        with self._changed:
            for feed in self._feeds.values():
                for viewer in feed.waiting:
                    viewer.put(b"", last=True)
            self._changed.notify_all()

    # -- for subclasses --

    def _new_feed(self, id: str) -> F:
        return self.feed_type(id)

    def _poll(self, feeds: dict[str, F]) -> None:
        """Read what changed in these feeds, send it to their viewers, and make the feeds ``ready``."""
        raise NotImplementedError

    def catch_up(self, feed: F, after: int | None, accept: Accept) -> Iterator[bytes]:
        """Yield the messages after id ``after``, then pass the present state to ``accept``.

        No message is lost in between: the accepted viewer receives all later messages.
        """
        raise NotImplementedError

    def is_complete(self, feed: F, after: int) -> bool:
        """Return whether the feed has ended and has no messages after id ``after``."""
        raise NotImplementedError

    # -- for a viewer --

    def open(self, id: str) -> F:
        """Return the feed of a subject once its state is known. Release it with ``leave``.

        Raise ``Unavailable`` if the database does not answer within ``READY_S``.
        """
        with self._changed:
            feed = self._feeds.get(id)
            if feed is None:
                feed = self._feeds[id] = self._new_feed(id)
            feed.viewers += 1
            if not feed.ready:
                self._notified.set()
            known = self._changed.wait_for(lambda: feed.ready or self.stopped.is_set(), READY_S)
        if not known or self.stopped.is_set():
            self.leave(feed)
            raise Unavailable("the subject could not be read in time")
        return feed

    def leave(self, feed: F, viewer: StreamViewer | None = None) -> None:
        with self._changed:
            feed.viewers -= 1
            feed.left_at = time.monotonic()
            if viewer is not None:
                feed.waiting.discard(viewer)

    def _wait_until(self, is_there: Callable[[], bool]) -> bool:
        """Wait at most ``max_lag_s`` until ``is_there`` returns True. The caller holds the lock.

        Return True even after a timeout. Return False without waiting if too many viewers wait already: the viewer
        should reconnect.
        """
        if is_there():
            return True
        if self.lagging >= MAX_LAGGING:
            return False
        self._notified.set()
        self.lagging += 1
        try:
            self._changed.wait_for(is_there, self.max_lag_s)
        finally:
            self.lagging -= 1
        return True

    # -- in the polling thread --

    def _poll_loop(self) -> None:
        while not self.stopped.is_set():
            self._notified.wait(self.poll_s if self._feeds else None)
            self._notified.clear()
            began, pause = time.monotonic(), MIN_INTERVAL_S
            try:
                feeds = self._active_feeds()
                if feeds:
                    self._poll(feeds)
            except Unavailable as error:
                log.warning("stream_poll_postponed", extra={"reason": str(error)})
                pause = RETRY_S
            except Exception:
                log.exception("stream_poll_failed")
                pause = RETRY_S
            self.stopped.wait(max(pause, self.rest_factor * (time.monotonic() - began)))

    @contextmanager
    def _isolate_errors(self, feed: F) -> Iterator[None]:
        """Log an error of one feed and retry that feed later, so that other feeds are not affected.

        Raise database errors, which affect all feeds.
        """
        try:
            yield
        except (Unavailable, SQLAlchemyError):
            raise
        except Exception:
            feed.try_at = time.monotonic() + RETRY_S
            log.exception("feed_update_failed", extra={"subject": feed.id})

    def _active_feeds(self) -> dict[str, F]:
        """Drop feeds that are no longer needed, and return the others, keyed by subject id."""
        long_ago = time.monotonic() - self.keep_s
        with self._changed:
            self._feeds = {id: feed for id, feed in self._feeds.items() if feed.is_kept(long_ago)}
            return dict(self._feeds)

    def _send(self, feed: F, text: bytes, *, last: bool = False) -> None:
        for viewer in feed.waiting:
            viewer.put(text, last=last)
        self.connections.send(feed.id, text, last=last)
