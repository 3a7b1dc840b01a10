"""Stream matches: send their state, and their masked log rows as soon as these are visible.

The id of a message is the number of the last row sent, so a reconnecting viewer gets all later rows from the log.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from api.streams.messages import encode_message
from api.streams.stream import RECONNECT, Accept, Feed, Stream
from api.streams.stream_writer import StreamConnections
from referee.db.engine import Database
from referee.matches.deals.deal_progress import DealGroupProgress
from referee.workflows.publishing import visibility
from referee.workflows.publishing.visibility import MatchFeed, MatchVisibility

Json = dict[str, Any]

ROWS_PER_MESSAGE: Final = 200  # rows in a message
MAX_HANDED_OVER: Final = 256 << 10  # bytes passed to the stream writer; the rest is sent by the request's thread


@dataclass(eq=False, slots=True, kw_only=True)
class MatchStreamFeed(Feed):
    """Track a match that has viewers, and the rows that were sent to them."""

    visible: MatchFeed
    items: list[bytes] = field(default_factory=list)  # the rows sent, in order, as JSON
    visibility: MatchVisibility | None = None
    state: bytes = b""

    @property
    def last(self) -> int | None:
        return len(self.items) - 1 if self.items else None


class MatchStream(Stream[MatchStreamFeed]):
    """Stream the matches that have viewers in this process.

    Recording rows sends no notification, because that would mean one for each decision of every match. Instead, one
    query every ``poll_s`` finds the new rows of all matches with viewers.
    """

    poll_s = 0.1
    rest_factor = 5
    keep_s = 5.0

    def __init__(self, database: Database, connections: StreamConnections) -> None:
        self._deal_groups = DealGroupProgress()
        super().__init__(database, connections)

    def _new_feed(self, id: str) -> MatchStreamFeed:
        return MatchStreamFeed(id, visible=MatchFeed(id, self._deal_groups))

    def is_complete(self, feed: MatchStreamFeed, after: int) -> bool:
        with self._changed:
            return feed.over and after >= len(feed.items) - 1

    def catch_up(self, feed: MatchStreamFeed, after: int | None, accept: Accept) -> Iterator[bytes]:
        start = 0 if after is None else after + 1
        with self._changed:  # another process may be ahead of this one
            if not self._wait_until(lambda: len(feed.items) >= start or feed.over):
                accept(RECONNECT, True)
                return
            start = min(start, len(feed.items))
        while True:
            with self._changed:
                rest = feed.items[start:]
                if sum(map(len, rest)) <= MAX_HANDED_OVER:
                    accept(b"".join(rows_messages(start, rest)) + self._snapshot(feed), feed.over)
                    return
            yield rows_message(start, rest[:ROWS_PER_MESSAGE])
            start += ROWS_PER_MESSAGE

    def _snapshot(self, feed: MatchStreamFeed) -> bytes:
        state = encode_message("state", feed.last, feed.state)
        return state + self._end(feed) if feed.over else state

    def _end(self, feed: MatchStreamFeed) -> bytes:
        assert feed.visibility is not None, "the end is sent after the state"
        data = orjson.dumps({"status": feed.visibility.status, "reason": feed.visibility.reason})
        return b"retry: 60000\n" + encode_message("end", f"{feed.last or 0}.end", data)

    # -- in the polling thread --

    def _poll(self, feeds: dict[str, MatchStreamFeed]) -> None:
        moment = time.monotonic()
        active = [feed for feed in feeds.values() if not feed.over and feed.try_at <= moment]
        if not active:
            return
        with self.database.read() as session:
            visibilities = visibility.load_visibilities(session, [feed.id for feed in active])
            for feed in active:
                with self._isolate_errors(feed):
                    standing = visibilities[feed.id]
                    feed.visible.read_new_rows(session, standing)
                    placements = visibility.load_placements(session, feed.id) if standing.has_ended else None
                    self._send_changes(feed, standing, placements)

    def _send_changes(self, feed: MatchStreamFeed, visibility: MatchVisibility, placements: list[int] | None) -> None:
        """Send, in this order, new rows, the state if it has changed, and the end once the whole log is public."""
        with self._changed:
            start = len(feed.items)  # the rows sent so far: the last poll may have failed before sending all
            feed.items += [orjson.dumps(item) for item in feed.visible.items[start:]]
            for rows in rows_messages(start, feed.items[start:]):
                self._send(feed, rows)
            state = orjson.dumps(visible_state(visibility, placements))
            feed.visibility, feed.ready = visibility, True
            if state != feed.state:
                feed.state = state
                self._send(feed, encode_message("state", feed.last, state))
            if visibility.has_ended and visibility.is_public:
                feed.over, feed.over_at = True, time.monotonic()
                self._send(feed, self._end(feed), last=True)
            self._changed.notify_all()


def rows_message(first: int, items: Sequence[bytes]) -> bytes:
    """Return a message with consecutive rows; ``first`` is the number of the first row."""
    return encode_message("rows", first + len(items) - 1, b'{"items":[' + b",".join(items) + b"]}")


def rows_messages(first: int, items: Sequence[bytes]) -> list[bytes]:
    """Return messages with these rows, ``ROWS_PER_MESSAGE`` in each."""
    return [
        rows_message(first + at, items[at : at + ROWS_PER_MESSAGE]) for at in range(0, len(items), ROWS_PER_MESSAGE)
    ]


def visible_state(visibility: MatchVisibility, placements: list[int] | None) -> Json:
    state = {
        "status": visibility.status,
        "reason": visibility.reason,
        "open": visibility.is_public,
        "delayed": visibility.is_delayed,
        "pace": visibility.pace,
    }
    return state if placements is None else {**state, "placements": placements}
