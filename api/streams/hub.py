"""What is watched in this process: read from the record once for all who watch it, by one thread a kind of thing.

The record is the truth. Every message has an id that says up to where the record was told, so that whoever comes back
with the id of the last is told from the record what it missed. Who is written to, and how, is the business of
``lines``; what is told, of the kinds of hubs.
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

from api.streams.stream_writer import HEARTBEAT, HEARTBEAT_S, MOST_BEHIND, StreamConnections
from referee.db.engine import Database
from referee.errors import Unavailable

log = logging.getLogger(__name__)

Json = dict[str, Any]

LOOK_S: Final = 1.0  # between two looks at the record without a word that it has changed
GAP_S: Final = 0.05  # between two looks in any case
RESTS: Final = 10  # times as long as it took, what is dear to compute is left as it is
KEEP_S: Final = 30.0  # what is known of a thing that nobody watches any more
READY_S: Final = 15.0  # for the first look at it
AGAIN_S: Final = 1.0  # what failed is tried again
COME_BACK: Final = b": too many wait for what is to come; come back\n\n"
MOST_LAGGING: Final = 4  # viewers that wait, each in a thread, for what another process may have told


class StreamViewer:
    """A viewer that holds a thread, where a connection cannot be taken over. One that lags too far behind is ended."""

    def __init__(self) -> None:
        self._texts: deque[tuple[bytes, bool]] = deque()
        self._changed = threading.Condition()
        self._behind = 0

    def put(self, text: bytes, *, last: bool) -> None:
        with self._changed:
            self._behind += len(text)
            if self._behind > MOST_BEHIND:
                self._texts.clear()
                text, last = b"", True
            self._texts.append((text, last))
            self._changed.notify()

    def get(self, timeout_s: float = HEARTBEAT_S) -> tuple[bytes, bool]:
        """The next text and whether it is the last; a heartbeat when nothing comes."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._texts, timeout_s):
                return HEARTBEAT, False
            text, last = self._texts.popleft()
            self._behind -= len(text)
            return text, last


@dataclass(eq=False, slots=True)
class Feed:
    """A thing that is watched, as far as it was told."""

    id: str
    viewers: int = 0
    waiting: set[StreamViewer] = field(default_factory=set)
    left_at: float = 0.0
    ready: bool = False  # known as it stands
    over: bool = False  # nothing will follow
    over_at: float = 0.0
    try_at: float = 0.0  # not before, because it failed

    def is_kept(self, long_ago: float) -> bool:
        """One that is over may still change, by a match made void: then it is begun anew."""
        if self.over:
            return self.over_at > long_ago
        return bool(self.viewers) or self.left_at > long_ago


Accept = Callable[[bytes, bool], None]
F = TypeVar("F", bound=Feed)


class Hub(Generic[F]):
    """All things of a kind that are watched in this process. A kind says how a feed begins (``_new_feed``), how it is
    brought up to date (``_look``), and what somebody who comes is told first (``catch_up``)."""

    look_s = LOOK_S
    rests = 0  # times as long as a look took, the next is put off
    keep_s = KEEP_S
    lags_s = LOOK_S * 2  # that another process may be ahead of this one

    def __init__(self, database: Database, lines: StreamConnections) -> None:
        self.database = database
        self.lines = lines
        self.stopped = threading.Event()
        self._feeds: dict[str, F] = {}
        self._changed = threading.Condition()
        self._word = threading.Event()
        self.lagging = 0
        threading.Thread(target=self._watch, name=type(self).__name__, daemon=True).start()

    def wake(self) -> None:
        """The record is worth a look."""
        self._word.set()

    def close(self) -> None:
        """Ends the looking, and the streams that hold threads."""
        self.stopped.set()
        self._word.set()
        with self._changed:
            for feed in self._feeds.values():
                for viewer in feed.waiting:
                    viewer.put(b"", last=True)
            self._changed.notify_all()

    # -- what a kind provides --

    def _new_feed(self, id: str) -> F:
        raise NotImplementedError

    def _look(self, feeds: dict[str, F]) -> None:
        """Reads what has changed of these, and tells it; makes them ``ready``."""
        raise NotImplementedError

    def catch_up(self, feed: F, after: int | None, accept: Accept) -> Iterator[bytes]:
        """What there was since ``after``; then, with nothing between, how it stands is handed to ``accept``, and all
        that follows goes to those who were accepted."""
        raise NotImplementedError

    def is_past(self, feed: F, after: int) -> bool:
        """Whether all there will ever be was told up to ``after``."""
        raise NotImplementedError

    # -- for a viewer --

    def open(self, id: str) -> F:
        """The thing from now on, known as it stands; raises ``Unavailable`` when the record does not answer in time.

        To be given back by ``leave``.
        """
        with self._changed:
            feed = self._feeds.get(id)
            if feed is None:
                feed = self._feeds[id] = self._new_feed(id)
            feed.viewers += 1
            if not feed.ready:
                self._word.set()
            known = self._changed.wait_for(lambda: feed.ready or self.stopped.is_set(), READY_S)
        if not known or self.stopped.is_set():
            self.leave(feed)
            raise Unavailable("it could not be read in time")
        return feed

    def leave(self, feed: F, viewer: StreamViewer | None = None) -> None:
        with self._changed:
            feed.viewers -= 1
            feed.left_at = time.monotonic()
            if viewer is not None:
                feed.waiting.discard(viewer)

    def _await(self, is_there: Callable[[], bool]) -> bool:
        """With the lock: waits a little for what another process may have told already. False: too many wait, and
        whoever asks had better come back."""
        if is_there():
            return True
        if self.lagging >= MOST_LAGGING:
            return False
        self._word.set()
        self.lagging += 1
        try:
            self._changed.wait_for(is_there, self.lags_s)
        finally:
            self.lagging -= 1
        return True

    # -- the one thread that reads --

    def _watch(self) -> None:
        while not self.stopped.is_set():
            self._word.wait(self.look_s if self._feeds else None)
            self._word.clear()
            began, pause = time.monotonic(), GAP_S
            try:
                feeds = self._active_feeds()
                if feeds:
                    self._look(feeds)
            except Unavailable as error:
                log.warning("record unavailable, viewers wait", extra={"reason": str(error)})
                pause = AGAIN_S
            except Exception:
                log.exception("look for viewers failed")
                pause = AGAIN_S
            self.stopped.wait(max(pause, self.rests * (time.monotonic() - began)))

    @contextmanager
    def _isolate_errors(self, feed: F) -> Iterator[None]:
        """What goes wrong with one thing is of no concern to the others, and is tried again a little later; unless
        it is the record, which fails all of them."""
        try:
            yield
        except (Unavailable, SQLAlchemyError):
            raise
        except Exception:
            feed.try_at = time.monotonic() + AGAIN_S
            log.exception("not told", extra={"of": feed.id})

    def _active_feeds(self) -> dict[str, F]:
        """Forgets what nobody watches any more."""
        long_ago = time.monotonic() - self.keep_s
        with self._changed:
            self._feeds = {id: feed for id, feed in self._feeds.items() if feed.is_kept(long_ago)}
            return dict(self._feeds)

    def _tell(self, feed: F, text: bytes, *, last: bool = False) -> None:
        for viewer in feed.waiting:
            viewer.put(text, last=last)
        self.lines.tell(feed.id, text, last=last)
