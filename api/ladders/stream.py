"""Stream ladders: send the rows of the bots whose rating changed, at most once a second.

The id of a message is the number of the last ledger entry that it covers.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from sqlalchemy.orm import Session

from api.streams.messages import encode_message
from api.streams.stream import REST_FACTOR, Accept, Feed, Stream
from api.streams.stream_writer import StreamConnections
from referee.db.engine import Database
from referee.ladders import rank_changes, ratings
from referee.ladders.ratings import RankedBot

Json = dict[str, Any]

ROWS_PER_MESSAGE: Final = 50  # ladder rows in a message
MIN_INTERVAL_S: Final = 1.0  # least time between two messages
MAX_CACHED_MESSAGES: Final = 32  # messages for reconnecting viewers, each beginning at another ledger entry


@dataclass(eq=False, slots=True)
class LadderFeed(Feed):
    """Track a ladder that has viewers, and the last ledger entry that was sent to them."""

    sent_seq: int = 0
    not_before: float = 0.0
    changes_since: dict[int, bytes] = field(default_factory=dict)  # messages by the last entry that the viewer knows


class LadderStream(Stream[LadderFeed]):
    """Stream the ladders that have viewers in this process. ``dump_row`` converts a ladder row to JSON."""

    feed_type = LadderFeed
    keep_s = 5.0

    def __init__(
        self, database: Database, connections: StreamConnections, dump_row: Callable[[RankedBot], Json]
    ) -> None:
        self._dump_row = dump_row
        super().__init__(database, connections)

    def catch_up(self, feed: LadderFeed, after: int | None, accept: Accept) -> Iterator[bytes]:
        with self._changed:  # another process may be ahead of this one
            self._wait_until(lambda: feed.sent_seq >= (after or 0))
        while not self._accept_viewer(feed, after, accept):
            self._read_changes(feed, feed.sent_seq if after is None else after)
        yield from ()  # makes this a generator; all that a viewer missed fits into one message

    def _accept_viewer(self, feed: LadderFeed, after: int | None, accept: Accept) -> bool:
        with self._changed:
            start = feed.sent_seq if after is None else min(after, feed.sent_seq)
            known = _changes(feed.sent_seq, []) if start == feed.sent_seq else feed.changes_since.get(start)
            if known is not None:
                accept(known, False)
        return known is not None

    def _read_changes(self, feed: LadderFeed, start: int) -> None:
        sent_seq = feed.sent_seq
        with self.database.read() as session:
            found = self._changed_rows(session, feed.id, start)
        with self._changed:
            if feed.sent_seq == sent_seq:  # otherwise there are newer changes already
                while len(feed.changes_since) >= MAX_CACHED_MESSAGES:
                    feed.changes_since.pop(next(iter(feed.changes_since)))
                feed.changes_since[start] = _changes(sent_seq, found)

    # -- in the polling thread --

    def _poll(self, feeds: dict[str, LadderFeed]) -> None:
        for feed in feeds.values():
            if time.monotonic() >= max(feed.not_before, feed.try_at):
                with self._isolate_errors(feed):
                    self._update_feed(feed)

    def _update_feed(self, feed: LadderFeed) -> None:
        began = time.monotonic()
        with self.database.read() as session:
            newest = ratings.last_seq(session, feed.id)
            changed = feed.ready and newest > feed.sent_seq
            rows = self._changed_rows(session, feed.id, feed.sent_seq) if changed else []
        with self._changed:
            feed.sent_seq, feed.ready = newest, True
            if changed:
                feed.changes_since.clear()
                moment = time.monotonic()
                feed.not_before = moment + max(MIN_INTERVAL_S, REST_FACTOR * (moment - began))
                self._send(feed, _changes(newest, rows))
            self._changed.notify_all()

    def _changed_rows(self, session: Session, ladder_id: str, after: int) -> list[Json]:
        moved = rank_changes.list_moved_rows(session, ladder_id, after=after, limit=ROWS_PER_MESSAGE)
        return [self._dump_row(row) for row in moved]


def _changes(seq: int, items: list[Json]) -> bytes:
    return encode_message("changes", seq, orjson.dumps({"as_of_seq": seq, "items": items}))
