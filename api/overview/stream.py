"""Stream the overview of the service after each change, at most every two seconds.

Each message replaces the one before, so messages have no ids.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from api.streams.messages import encode_message
from api.streams.stream import REST_FACTOR, Accept, Feed, Stream
from api.streams.stream_writer import StreamConnections
from referee.db.engine import Database

MIN_INTERVAL_S: Final = 2.0  # least time between two messages
NOW: Final = "now"


@dataclass(eq=False, slots=True)
class OverviewFeed(Feed):
    """Hold the overview as it was last sent."""

    data: bytes = b""
    not_before: float = 0.0


class OverviewStream(Stream[OverviewFeed]):
    """Stream a single subject, ``NOW``. ``render`` returns the overview as JSON."""

    feed_type = OverviewFeed
    keep_s = 5.0

    def __init__(self, database: Database, connections: StreamConnections, render: Callable[[], bytes]) -> None:
        self._render = render
        super().__init__(database, connections)

    def catch_up(self, feed: OverviewFeed, after: int | None, accept: Accept) -> Iterator[bytes]:
        with self._changed:
            accept(encode_message(NOW, None, feed.data), False)
        yield from ()

    def _poll(self, feeds: dict[str, OverviewFeed]) -> None:
        feed, began = feeds[NOW], time.monotonic()
        if feed.ready and began < feed.not_before:
            return
        data = self._render()
        with self._changed:
            moment = time.monotonic()
            feed.not_before = moment + max(MIN_INTERVAL_S, REST_FACTOR * (moment - began))
            changed, feed.data, feed.ready = data != feed.data, data, True
            if changed:
                self._send(feed, encode_message(NOW, None, data))
            self._changed.notify_all()
