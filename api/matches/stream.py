"""What those who watch a match are told: its rows, masked, as soon as they may be told, and how it stands.

The id of a message is the number of the last row told, so the log itself is the memory of the stream.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from sqlalchemy.orm import Session

from api.streams.hub import COME_BACK, Accept, Feed, Hub
from api.streams.messages import message
from api.streams.stream_writer import StreamConnections
from referee.db.engine import Database
from referee.matches.deal_progress import DealGroupProgress
from referee.workflows import visibility
from referee.workflows.visibility import MatchFeed, MatchVisibility

Json = dict[str, Any]

PAGE: Final = 200  # rows of a message
AT_ONCE: Final = 256 << 10  # bytes that are handed over whole; what is longer holds a thread while it is read


@dataclass(eq=False, slots=True, kw_only=True)
class MatchStream(Feed):
    """A match that is watched, as far as it was told."""

    telling: MatchFeed
    items: list[bytes] = field(default_factory=list)  # of the rows told, in their order
    standing: MatchVisibility | None = None
    state: bytes = b""

    @property
    def last(self) -> int | None:
        return len(self.items) - 1 if self.items else None


class MatchHub(Hub[MatchStream]):
    """The matches that are watched in this process.

    Nobody says when rows are recorded, which would cost a word a decision of every match: they are looked for, of all
    watched matches at once.
    """

    look_s = 0.1
    rests = 5
    keep_s = 5.0

    def __init__(self, database: Database, lines: StreamConnections) -> None:
        self._tables = DealGroupProgress()
        super().__init__(database, lines)

    def _new_feed(self, id: str) -> MatchStream:
        return MatchStream(id, telling=MatchFeed(id, self._tables))

    def is_past(self, feed: MatchStream, after: int) -> bool:
        with self._changed:
            return feed.over and after >= len(feed.items) - 1

    def catch_up(self, feed: MatchStream, after: int | None, accept: Accept) -> Iterator[bytes]:
        start = 0 if after is None else after + 1
        with self._changed:  # another process may be ahead of this one
            if not self._await(lambda: len(feed.items) >= start or feed.over):
                accept(COME_BACK, True)
                return
            start = min(start, len(feed.items))
        while True:
            with self._changed:
                rest = feed.items[start:]
                if sum(map(len, rest)) <= AT_ONCE:
                    accept(b"".join(rows_messages(start, rest)) + self._snapshot(feed), feed.over)
                    return
            yield rows_message(start, rest[:PAGE])
            start += PAGE

    def _snapshot(self, feed: MatchStream) -> bytes:
        stands = message("state", feed.last, feed.state)
        return stands + self._end(feed) if feed.over else stands

    def _end(self, feed: MatchStream) -> bytes:
        assert feed.standing is not None, "the end is told after the state"
        data = orjson.dumps({"status": feed.standing.status, "reason": feed.standing.reason})
        return b"retry: 60000\n" + message("end", f"{feed.last or 0}.end", data)

    # -- in the thread --

    def _look(self, feeds: dict[str, MatchStream]) -> None:
        moment = time.monotonic()
        going_on = [feed for feed in feeds.values() if not feed.over and feed.try_at <= moment]
        if not going_on:
            return
        with self.database.read() as session:
            standings = visibility.standings(session, [feed.id for feed in going_on])
            for feed in going_on:
                with self._isolate_errors(feed):
                    self._bring_up(session, feed, standings[feed.id])

    def _bring_up(self, session: Session, feed: MatchStream, standing: MatchVisibility) -> None:
        feed.telling.look(session, standing)
        placements = visibility.placements(session, feed.id) if standing.ended else None
        self._tell_all(feed, standing, placements)

    def _tell_all(self, feed: MatchStream, standing: MatchVisibility, placements: list[int] | None) -> None:
        """1. Rows. 2. How it stands, when that has changed. 3. The end, when all may read all."""
        with self._changed:
            start = len(feed.items)  # not what the last look gave: something may have failed after an earlier one
            feed.items += [orjson.dumps(item) for item in feed.telling.items[start:]]
            for told in rows_messages(start, feed.items[start:]):
                self._tell(feed, told)
            state = orjson.dumps(state_of(standing, placements))
            feed.standing, feed.ready = standing, True
            if state != feed.state:
                feed.state = state
                self._tell(feed, message("state", feed.last, state))
            if standing.ended and standing.open:
                feed.over, feed.over_at = True, time.monotonic()
                self._tell(feed, self._end(feed), last=True)
            self._changed.notify_all()


def rows_message(first: int, items: Sequence[bytes]) -> bytes:
    """Rows that follow one another, the first of this number."""
    return message("rows", first + len(items) - 1, b'{"items":[' + b",".join(items) + b"]}")


def rows_messages(first: int, items: Sequence[bytes]) -> list[bytes]:
    """As many as it takes; none where there are no rows."""
    return [rows_message(first + at, items[at : at + PAGE]) for at in range(0, len(items), PAGE)]


def state_of(standing: MatchVisibility, placements: list[int] | None) -> Json:
    state = {name: getattr(standing, name) for name in ("status", "reason", "open", "held_back", "pace")}
    return state if placements is None else {**state, "placements": placements}
