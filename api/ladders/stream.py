"""What those who watch a ladder are told: the lines of the bots that moved, at most once a second.

The id of a message is the number of the ladder's last act that was told.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from sqlalchemy.orm import Session

from api.streams.hub import RESTS, Accept, Feed, Hub
from api.streams.messages import message
from api.streams.stream_writer import StreamConnections
from referee.db.engine import Database
from referee.ladders import rank_changes, ratings
from referee.ladders.ratings import LadderStanding

Json = dict[str, Any]

LINES: Final = 50  # of a message
PACE_S: Final = 1.0  # between two messages
MOST_KEPT: Final = 32  # messages for those who come back, each from another act on


@dataclass(eq=False, slots=True)
class LadderFeed(Feed):
    """A ladder that is watched, as far as it was told."""

    told: int = 0
    not_before: float = 0.0
    since: dict[int, bytes] = field(default_factory=dict)  # what is told now to who knows up to this act


class LadderHub(Hub[LadderFeed]):
    """The ladders that are watched in this process."""

    keep_s = 5.0

    def __init__(self, database: Database, lines: StreamConnections, line: Callable[[LadderStanding], Json]) -> None:
        self._line = line
        super().__init__(database, lines)

    def _new_feed(self, id: str) -> LadderFeed:
        return LadderFeed(id)

    def is_past(self, feed: LadderFeed, after: int) -> bool:
        return False  # a ladder has no end

    def catch_up(self, feed: LadderFeed, after: int | None, accept: Accept) -> Iterator[bytes]:
        with self._changed:  # another process may be ahead of this one
            self._await(lambda: feed.told >= (after or 0))
        while not self._accept_viewer(feed, after, accept):
            self._find(feed, feed.told if after is None else after)
        yield from ()  # nothing in pieces: what is told of a ladder's past is no longer than a message

    def _accept_viewer(self, feed: LadderFeed, after: int | None, accept: Accept) -> bool:
        with self._changed:
            start = feed.told if after is None else min(after, feed.told)
            known = _changes(feed.told, []) if start == feed.told else feed.since.get(start)
            if known is not None:
                accept(known, False)
        return known is not None

    def _find(self, feed: LadderFeed, start: int) -> None:
        told = feed.told
        with self.database.read() as session:
            found = self._changed_rows(session, feed.id, start)
        with self._changed:
            if feed.told == told:  # else it has moved on meanwhile
                while len(feed.since) >= MOST_KEPT:
                    feed.since.pop(next(iter(feed.since)))
                feed.since[start] = _changes(told, found)

    # -- in the thread --

    def _look(self, feeds: dict[str, LadderFeed]) -> None:
        for feed in feeds.values():
            if time.monotonic() >= max(feed.not_before, feed.try_at):
                with self._isolate_errors(feed):
                    self._bring_up(feed)

    def _bring_up(self, feed: LadderFeed) -> None:
        began = time.monotonic()
        with self.database.read() as session:
            newest = ratings.last_seq(session, feed.id)
            moved = self._changed_rows(session, feed.id, feed.told) if feed.ready and newest > feed.told else []
        with self._changed:
            changed, feed.told = feed.ready and newest > feed.told, newest
            feed.ready = True
            if changed:
                feed.since.clear()
                moment = time.monotonic()
                feed.not_before = moment + max(PACE_S, RESTS * (moment - began))
                self._tell(feed, _changes(newest, moved))
            self._changed.notify_all()

    def _changed_rows(self, session: Session, ladder_id: str, after: int) -> list[Json]:
        return [self._line(one) for one in rank_changes.list_moved_rows(session, ladder_id, after=after, limit=LINES)]


def _changes(seq: int, items: list[Json]) -> bytes:
    return message("changes", seq, orjson.dumps({"as_of_seq": seq, "items": items}))
