"""What those who watch events are told.

Results are numbered in the order of their commits, and the number up to which everything was told is the id of every
message: whoever comes back with the id of the last one is told all that ended since, from the record, then how things
stand.
"""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import orjson
from sqlalchemy.orm import Session

from api.streams.hub import COME_BACK, RESTS, Accept, Feed, Hub
from api.streams.messages import instant, message
from api.streams.stream_writer import StreamConnections
from referee.db.engine import Database
from referee.errors import RefereeError, Unavailable
from referee.tournaments import entries as entering
from referee.tournaments import watching
from referee.tournaments.progress import Progress, progress

log = logging.getLogger(__name__)

Json = dict[str, Any]

PROGRESS_S: Final = 1.0  # between two messages of how far an event is
STANDINGS_S: Final = 1.0  # between two tables
CHECK_S: Final = 3.0  # what changes without a result (matches cancelled, void, arranged) is found so soon
LINES: Final = 50  # of the table
TABLES_BYTES_S: Final = 8_000_000  # of tables, to all viewers of an event: the more they are, the fewer come
SETTLE_S: Final = 0.5  # that those who are told of a match have before the next table is computed
OVER: Final = ("finished", "cancelled")


@dataclass(eq=False, slots=True)
class EventFeed(Feed):
    """An event that is watched, as far as it was told."""

    state: tuple[str, str | None] | None = None
    progress: bytes = b""
    standings: bytes = b""
    counted: object = None  # what the table depends on
    last_match: int = 0
    stirred: bool = True  # progress has changed, or may have
    outdated: bool = True  # the table has
    progress_at: float = 0.0  # not before
    standings_at: float = 0.0
    check_at: float = 0.0

    def due(self, moment: float, state: tuple[str, str | None]) -> bool:
        return self.state != state or (moment >= self.progress_at and (self.stirred or moment >= self.check_at))


@dataclass(frozen=True, slots=True)
class Views:
    """How it is shown: how far an event is, and the head of its table."""

    progress: Callable[[Progress], Json]
    table: Callable[[str], Json]


class EventHub(Hub[EventFeed]):
    """The events that are watched in this process."""

    def __init__(self, database: Database, lines: StreamConnections, views: Views) -> None:
        self._views = views
        self._told: int | None = None
        super().__init__(database, lines)

    def _new_feed(self, id: str) -> EventFeed:
        return EventFeed(id)

    def is_past(self, feed: EventFeed, after: int) -> bool:
        with self._changed:
            return feed.over and after >= feed.last_match

    def catch_up(self, feed: EventFeed, after: int | None, accept: Accept) -> Iterator[bytes]:
        with self._changed:  # another process may be ahead of this one
            if not self._await(lambda: (self._told or 0) >= (after or 0)):
                accept(COME_BACK, True)
                return
        while True:
            with self._changed:
                told = self._told or 0
                if after is None or after >= told:
                    accept(self._snapshot(feed, told), feed.over)
                    return
            with self.database.read() as session:
                page = watching.ended_since(session, [feed.id], after=after, until=told)
            after = page[-1].seq if len(page) == watching.PAGE else told
            if page:
                yield b"".join(map(match_message, page))

    def _snapshot(self, feed: EventFeed, told: int) -> bytes:
        parts = [message("progress", told, feed.progress), message("standings", told, feed.standings)]
        if feed.over:
            parts.append(self._end(feed, told))
        return b"".join(parts)

    def _end(self, feed: EventFeed, told: int) -> bytes:
        status, reason = feed.state or ("", None)
        data = orjson.dumps({"status": status, "reason": reason, "as_of_seq": feed.last_match})
        return b"retry: 60000\n" + message("end", f"{told}.end", data)

    # -- the one thread that reads --

    def _look(self, feeds: dict[str, EventFeed]) -> None:
        """One snapshot: 1. matches that ended, told at once. 2. How far each event is. Then 3. tables. 4. Ends."""
        with self.database.read() as session:
            states = watching.states(session, list(feeds))
            newest = watching.last_seq(session)
            told = newest if self._told is None else self._told
            while told < newest:
                page = watching.ended_since(session, list(feeds), after=told, until=newest)
                told = page[-1].seq if len(page) == watching.PAGE else newest
                self._tell_matches(feeds, page, told)
            with self._changed:
                self._told = newest
                self._changed.notify_all()
            moment = time.monotonic()
            for feed in feeds.values():
                if not feed.over and feed.try_at <= moment and feed.due(moment, states[feed.id]):
                    with self._isolate_errors(feed):
                        self._tell_progress(session, feed, states[feed.id], moment)
        # Computing holds the interpreter, which would hold up every single write.
        self.lines.settle(SETTLE_S)
        for feed in feeds.values():
            if not feed.over:
                self._publish_changes(feed)

    def _active_feeds(self) -> dict[str, EventFeed]:
        with self._changed:
            feeds = super()._active_feeds()
            if not feeds:
                self._told = None
            return feeds

    def _tell_matches(self, feeds: dict[str, EventFeed], page: list[watching.EndedMatch], told: int) -> None:
        by_event: dict[str, list[bytes]] = {}
        for ended in page:
            by_event.setdefault(ended.tournament_id, []).append(match_message(ended))
            feeds[ended.tournament_id].last_match = ended.seq
        with self._changed:
            for id, messages in by_event.items():
                feeds[id].stirred = feeds[id].outdated = True
                self._tell(feeds[id], b"".join(messages))
            self._told = told
            self._changed.notify_all()

    def _tell_progress(self, session: Session, feed: EventFeed, state: tuple[str, str | None], began: float) -> None:
        found, entries = progress(session, feed.id), entering.counts(session, feed.id)
        told = {"status": state[0], "reason": state[1], **self._views.progress(found), "entries": asdict(entries)}
        data = orjson.dumps(told)
        counted = (state[0], found.by_status, found.stage)
        moment = time.monotonic()
        with self._changed:
            feed.outdated = feed.outdated or counted != feed.counted
            feed.counted, feed.state, feed.stirred = counted, state, False
            feed.progress_at = moment + max(PROGRESS_S, RESTS * (moment - began))
            feed.check_at = moment + max(CHECK_S, RESTS * (moment - began))
            if data != feed.progress:
                feed.progress = data
                self._tell(feed, message("progress", self._told or 0, data))

    def _publish_changes(self, feed: EventFeed) -> None:
        """The table, when it has changed; then the end, once everything before it was told. What goes wrong with one
        event is of no concern to the others."""
        try:
            began = time.monotonic()
            if feed.outdated and began >= feed.standings_at:
                self._tell_standings(feed, began)
        except Exception:
            log.exception("table not told", extra={"tournament": feed.id})
        with self._changed:
            feed.ready = bool(feed.progress and feed.standings)
            if feed.ready and feed.state and feed.state[0] in OVER and not feed.outdated:
                feed.over, feed.over_at = True, time.monotonic()
                self._tell(feed, self._end(feed, self._told or 0), last=True)
            self._changed.notify_all()

    def _tell_standings(self, feed: EventFeed, began: float) -> None:
        table = self._table(feed)
        seq = table["as_of_seq"]
        last = feed.last_match if seq is None or seq >= feed.last_match else self._last_counting(feed)
        data = orjson.dumps(table)
        moment = time.monotonic()
        with self._changed:
            # What is dear to make may lag behind: then it is asked for again.
            feed.outdated = seq is not None and seq < last
            feed.last_match = max(last, seq or 0)
            told_s = feed.viewers * len(data) / TABLES_BYTES_S
            feed.standings_at = moment + max(STANDINGS_S, RESTS * (moment - began), told_s)
            if data != feed.standings:
                feed.standings = data
                self._tell(feed, message("standings", self._told or 0, data))

    def _last_counting(self, feed: EventFeed) -> int:
        with self.database.read() as session:
            return watching.last_counting(session, feed.id)

    def _table(self, feed: EventFeed) -> Json:
        try:
            return self._views.table(feed.id)
        except Unavailable:
            raise
        except RefereeError as error:  # too large to be made
            return {"as_of_seq": None, "results": None, "items": [], "reason": str(error)}


def match_message(ended: watching.EndedMatch) -> bytes:
    data = {
        "id": ended.match_id,
        "seq": ended.seq,
        "tournament_round": ended.stage,
        "table": ended.table,
        "leg": ended.leg,
        "status": ended.status,
        "reason": ended.reason,
        "entrants": ended.entrants,
        "bots": ended.bots,
        "placements": ended.placements,
        "returns": ended.returns,
        "finished_at": instant(ended.finished_at),
    }
    return message("match", ended.seq, orjson.dumps(data))
