"""What those who watch a match are told: its rows, masked, as soon as they may be told, and how it stands.

The id of a message is the number of the last row told, so the log itself is the memory of the stream.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from sqlalchemy.orm import Session

from api.lines import Lines
from api.streams.hub import Accept, Feed, Hub
from api.streams.messages import message
from referee.errors import Unavailable
from referee.store.db import Database
from referee.store.play import release
from referee.store.play.release import Standing, Telling
from referee.store.play.sharing import Tables

log = logging.getLogger(__name__)

Json = dict[str, Any]

PAGE: Final = 200  # rows of a message


@dataclass(eq=False, slots=True, kw_only=True)
class MatchFeed(Feed):
    """A match that is watched, as far as it was told."""

    telling: Telling
    items: list[bytes] = field(default_factory=list)  # of the rows told, in their order
    standing: Standing | None = None
    state: bytes = b""

    @property
    def last(self) -> int | None:
        return len(self.items) - 1 if self.items else None


class MatchHub(Hub[MatchFeed]):
    """The matches that are watched in this process.

    Nobody says when rows are recorded, which would cost a word a decision of every match: they are looked for, of all
    watched matches at once.
    """

    look_s = 0.1
    rests = 5
    keep_s = 5.0

    def __init__(self, database: Database, lines: Lines) -> None:
        self._tables = Tables()
        super().__init__(database, lines)

    def _begun(self, id: str) -> MatchFeed:
        return MatchFeed(id, telling=Telling(id, self._tables))

    def is_past(self, feed: MatchFeed, after: int) -> bool:
        with self._changed:
            return feed.over and after >= len(feed.items) - 1

    def missed(self, feed: MatchFeed, after: int | None, accept: Accept) -> Iterator[bytes]:
        start = 0 if after is None else after + 1
        with self._changed:  # another process may be ahead of this one
            self._changed.wait_for(lambda: len(feed.items) >= start or feed.over, self.lags_s)
            start = min(start, len(feed.items))
        while True:
            with self._changed:
                page = feed.items[start : start + PAGE]
                if start + len(page) == len(feed.items):
                    accept(rows_message(start, page) + self._snapshot(feed), feed.over)
                    return
            yield rows_message(start, page)
            start += len(page)

    def _snapshot(self, feed: MatchFeed) -> bytes:
        stands = message("state", feed.last, feed.state)
        return stands + self._end(feed) if feed.over else stands

    def _end(self, feed: MatchFeed) -> bytes:
        assert feed.standing is not None, "the end is told after the state"
        data = orjson.dumps({"status": feed.standing.status, "reason": feed.standing.reason})
        return b"retry: 60000\n" + message("end", f"{feed.last or 0}.end", data)

    # -- in the thread --

    def _look(self, feeds: dict[str, MatchFeed]) -> None:
        going_on = [feed for feed in feeds.values() if not feed.over]
        if not going_on:
            return
        with self.database.read() as session:
            standings = release.standings(session, [feed.id for feed in going_on])
            for feed in going_on:
                self._tried(session, feed, standings[feed.id])

    def _tried(self, session: Session, feed: MatchFeed, standing: Standing) -> None:
        """What goes wrong with one match is of no concern to the others."""
        try:
            items = feed.telling.look(session, standing)
            placements = release.placements(session, feed.id) if standing.ended else None
            self._bring_up(feed, standing, items, placements)
        except Unavailable:
            raise
        except Exception:
            log.exception("match not told", extra={"match": feed.id})

    def _bring_up(
        self, feed: MatchFeed, standing: Standing, items: Sequence[Json], placements: list[int] | None
    ) -> None:
        """1. Rows. 2. How it stands, when that has changed. 3. The end, when all may read all."""
        with self._changed:
            start = len(feed.items)
            feed.items += [orjson.dumps(item) for item in items]
            for first in range(start, len(feed.items), PAGE):
                self._tell(feed, rows_message(first, feed.items[first : first + PAGE]))
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
    """Rows that follow one another; nothing where there are none."""
    if not items:
        return b""
    return message("rows", first + len(items) - 1, b'{"items":[' + b",".join(items) + b"]}")


def state_of(standing: Standing, placements: list[int] | None) -> Json:
    state = {name: getattr(standing, name) for name in ("status", "reason", "open", "held_back", "pace")}
    return state if placements is None else {**state, "placements": placements}
