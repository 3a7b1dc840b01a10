"""What those who watch the whole service are told: how it stands, anew when that has changed, at most every two
seconds. There is nothing to come back to, so messages have no ids."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from api.streams.hub import RESTS, Accept, Feed, Hub
from api.streams.messages import message
from api.streams.stream_writer import StreamConnections
from referee.db.engine import Database

PACE_S: Final = 2.0
NOW: Final = "now"


@dataclass(eq=False, slots=True)
class NowFeed(Feed):
    """The service, as it was last told."""

    data: bytes = b""
    not_before: float = 0.0


class NowHub(Hub[NowFeed]):
    """The one thing there is of this kind; ``found`` gives it as JSON."""

    keep_s = 5.0

    def __init__(self, database: Database, lines: StreamConnections, found: Callable[[], bytes]) -> None:
        self._found = found
        super().__init__(database, lines)

    def _new_feed(self, id: str) -> NowFeed:
        return NowFeed(id)

    def is_past(self, feed: NowFeed, after: int) -> bool:
        return False

    def catch_up(self, feed: NowFeed, after: int | None, accept: Accept) -> Iterator[bytes]:
        with self._changed:
            accept(message(NOW, None, feed.data), False)
        yield from ()

    def _look(self, feeds: dict[str, NowFeed]) -> None:
        feed, began = feeds[NOW], time.monotonic()
        if feed.ready and began < feed.not_before:
            return
        data = self._found()
        with self._changed:
            moment = time.monotonic()
            feed.not_before = moment + max(PACE_S, RESTS * (moment - began))
            changed, feed.data, feed.ready = data != feed.data, data, True
            if changed:
                self._tell(feed, message(NOW, None, data))
            self._changed.notify_all()
