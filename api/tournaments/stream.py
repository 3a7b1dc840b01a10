"""Stream tournaments: matches that ended, progress, standings.

Results are numbered in the order of their commits. The id of each message is the number of the last result sent. A
viewer that reconnects with it gets from the database all matches that ended later, then the present state.
"""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import orjson
from sqlalchemy.orm import Session

from api.streams.messages import encode_message, format_time
from api.streams.stream import RECONNECT, REST_FACTOR, Accept, Feed, Stream
from api.streams.stream_writer import StreamConnections
from referee.db.engine import Database
from referee.errors import RefereeError, Unavailable
from referee.tournaments import entries as entering
from referee.tournaments import watching
from referee.tournaments.progress import Progress, load_progress
from referee.tournaments.states import OVER

log = logging.getLogger(__name__)

Json = dict[str, Any]

PROGRESS_S: Final = 1.0  # least time between progress messages
STANDINGS_S: Final = 1.0  # least time between standings messages
CHECK_S: Final = 3.0  # longest delay of changes without a result (matches cancelled, voided, created)
ROWS_PER_MESSAGE: Final = 50  # rows of the standings in a message
STANDINGS_BYTES_S: Final = 8_000_000  # bytes per second to all viewers of a tournament: more viewers, fewer messages
WRITE_S: Final = 0.5  # time for writing match messages before standings are computed


@dataclass(eq=False, slots=True)
class TournamentFeed(Feed):
    """Track a tournament that has viewers, and the messages that were sent to them."""

    state: tuple[str, str | None] | None = None
    progress: bytes = b""
    standings: bytes = b""
    counted: object = None  # values on which the standings depend
    last_match: int = 0
    progress_outdated: bool = True  # it may have changed
    standings_outdated: bool = True
    progress_at: float = 0.0  # earliest time of the next message
    standings_at: float = 0.0
    check_at: float = 0.0

    def is_due(self, moment: float, state: tuple[str, str | None]) -> bool:
        return self.state != state or (
            moment >= self.progress_at and (self.progress_outdated or moment >= self.check_at)
        )


class TournamentStream(Stream[TournamentFeed]):
    """Stream the tournaments that have viewers in this process.

    ``render_progress`` and ``render_table`` render the progress of a tournament, and the first rows of its standings.
    """

    feed_type = TournamentFeed

    def __init__(
        self,
        database: Database,
        connections: StreamConnections,
        render_progress: Callable[[Progress], Json],
        render_table: Callable[[str], Json],
    ) -> None:
        self._render_progress, self._render_table = render_progress, render_table
        self._sent_seq: int | None = None
        super().__init__(database, connections)

    def is_complete(self, feed: TournamentFeed, after: int) -> bool:
        with self._changed:
            return feed.over and after >= feed.last_match

    def catch_up(self, feed: TournamentFeed, after: int | None, accept: Accept) -> Iterator[bytes]:
        with self._changed:  # another process may be ahead of this one
            if not self._wait_until(lambda: (self._sent_seq or 0) >= (after or 0)):
                accept(RECONNECT, True)
                return
        while True:
            with self._changed:
                seq = self._sent_seq or 0
                if after is None or after >= seq:
                    accept(self._snapshot(feed, seq), feed.over)
                    return
            with self.database.read() as session:
                page = watching.list_ended(session, [feed.id], after=after, until=seq)
            after = page[-1].seq if len(page) == watching.PAGE_SIZE else seq
            if page:
                yield b"".join(map(match_message, page))

    def _snapshot(self, feed: TournamentFeed, seq: int) -> bytes:
        parts = [encode_message("progress", seq, feed.progress), encode_message("standings", seq, feed.standings)]
        if feed.over:
            parts.append(self._end(feed, seq))
        return b"".join(parts)

    def _end(self, feed: TournamentFeed, seq: int) -> bytes:
        status, reason = feed.state or ("", None)
        data = orjson.dumps({"status": status, "reason": reason, "as_of_seq": feed.last_match})
        return b"retry: 60000\n" + encode_message("end", f"{seq}.end", data)

    # -- in the polling thread --

    def _poll(self, feeds: dict[str, TournamentFeed]) -> None:
        """Send matches that ended and progress, both from one snapshot. Then send standings and ends of tournaments."""
        with self.database.read() as session:
            states = watching.load_states(session, list(feeds))
            newest = watching.last_seq(session)
            seq = newest if self._sent_seq is None else self._sent_seq
            while seq < newest:
                page = watching.list_ended(session, list(feeds), after=seq, until=newest)
                seq = page[-1].seq if len(page) == watching.PAGE_SIZE else newest
                self._send_matches(feeds, page, seq)
            with self._changed:
                self._sent_seq = newest
                self._changed.notify_all()
            moment = time.monotonic()
            for feed in feeds.values():
                if not feed.over and feed.try_at <= moment and feed.is_due(moment, states[feed.id]):
                    with self._isolate_errors(feed):
                        self._send_progress(session, feed, states[feed.id], moment)
        # Computing standings holds the interpreter lock, which would delay every write.
        self.connections.wait_until_written(WRITE_S)
        for feed in feeds.values():
            if not feed.over:
                self._publish_changes(feed)

    def _active_feeds(self) -> dict[str, TournamentFeed]:
        with self._changed:
            feeds = super()._active_feeds()
            if not feeds:
                self._sent_seq = None
            return feeds

    def _send_matches(self, feeds: dict[str, TournamentFeed], page: list[watching.EndedMatch], seq: int) -> None:
        by_tournament: dict[str, list[bytes]] = {}
        for ended in page:
            by_tournament.setdefault(ended.tournament_id, []).append(match_message(ended))
            feeds[ended.tournament_id].last_match = ended.seq
        with self._changed:
            for id, messages in by_tournament.items():
                feeds[id].progress_outdated = feeds[id].standings_outdated = True
                self._send(feeds[id], b"".join(messages))
            self._sent_seq = seq
            self._changed.notify_all()

    def _send_progress(
        self, session: Session, feed: TournamentFeed, state: tuple[str, str | None], began: float
    ) -> None:
        found, entries = load_progress(session, feed.id), entering.count_by_state(session, feed.id)
        content = {"status": state[0], "reason": state[1], **self._render_progress(found), "entries": asdict(entries)}
        data = orjson.dumps(content)
        counted = (state[0], found.by_status, found.tournament_round, entries)
        moment = time.monotonic()
        with self._changed:
            feed.standings_outdated = feed.standings_outdated or counted != feed.counted
            feed.counted, feed.state, feed.progress_outdated = counted, state, False
            feed.progress_at = moment + max(PROGRESS_S, REST_FACTOR * (moment - began))
            feed.check_at = moment + max(CHECK_S, REST_FACTOR * (moment - began))
            if data != feed.progress:
                feed.progress = data
                self._send(feed, encode_message("progress", self._sent_seq or 0, data))

    def _publish_changes(self, feed: TournamentFeed) -> None:
        """Send the standings if they have changed, then the end once everything before it has been sent.

        Log an error instead of raising it, so that other tournaments are not affected.
        """
        try:
            began = time.monotonic()
            if feed.standings_outdated and began >= feed.standings_at:
                self._send_standings(feed, began)
        except Exception:
            log.exception("standings_not_sent", extra={"tournament": feed.id})
        with self._changed:
            feed.ready = bool(feed.progress and feed.standings)
            if feed.ready and feed.state and feed.state[0] in OVER and not feed.standings_outdated:
                feed.over, feed.over_at = True, time.monotonic()
                self._send(feed, self._end(feed, self._sent_seq or 0), last=True)
            self._changed.notify_all()

    def _send_standings(self, feed: TournamentFeed, began: float) -> None:
        table = self._table(feed)
        seq = table["as_of_seq"]
        last = feed.last_match
        if seq is not None and seq < last:
            with self.database.read() as session:
                last = watching.last_counting_seq(session, feed.id)
        data = orjson.dumps(table)
        moment = time.monotonic()
        with self._changed:
            # Standings that take long to compute may be older than the last result. If so, compute them again later.
            feed.standings_outdated = seq is not None and seq < last
            feed.last_match = max(last, seq or 0)
            writing_s = feed.viewers * len(data) / STANDINGS_BYTES_S
            feed.standings_at = moment + max(STANDINGS_S, REST_FACTOR * (moment - began), writing_s)
            if data != feed.standings:
                feed.standings = data
                self._send(feed, encode_message("standings", self._sent_seq or 0, data))

    def _table(self, feed: TournamentFeed) -> Json:
        try:
            return self._render_table(feed.id)
        except Unavailable:
            raise
        except RefereeError as error:  # there are too many results
            return {"as_of_seq": None, "results": None, "items": [], "reason": str(error)}


def match_message(ended: watching.EndedMatch) -> bytes:
    data = asdict(ended)
    del data["tournament_id"]
    data |= {"id": data.pop("match_id"), "tournament_round": data.pop("tournament_round")}
    data["finished_at"] = format_time(ended.finished_at)
    return encode_message("match", ended.seq, orjson.dumps(data))
