"""Decide which rows of a match are public, while it is played and afterwards.

Who sits where is public from the pairing on, except in anonymous tournaments (``filter_known_seats``).

In rated matches of ladders and anonymous tournaments, rows become public in groups: all rows of a round once the next
round has begun or the match is over, and all rows older than ``MAX_DELAY_S``, in steps of ``STEP_S``. So the time at
which a row appears reveals only the end of a round or an interval of ten seconds, and never how long a seat thought. If
other matches still play the same cards and a spectator could inform their bots, rows become public when all these
matches have been dealt the next cards or are over (``deal_progress``). In all other matches, rows become public as soon
as they are recorded; forced moves seem to take time even then (``workers.forced_waits``). ``match.log`` decides which
part of a row may be read: before the deal group is over, only masked events.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal

from sqlalchemy import ColumnElement, exists, or_, select
from sqlalchemy.orm import Session, aliased

from referee.db.engine import current_time
from referee.errors import NotFound
from referee.games import catalogue
from referee.match.canonical import Json
from referee.match.log import PublicView, opens_round, parse_row
from referee.matches.deals.deal_progress import DealGroupProgress, DrawCounts
from referee.matches.logs import logs
from referee.matches.states import ENDED, DealGroupState, MatchState
from referee.matches.tables import DealGroup, LogRow, MatchSeat, StoredMatch
from referee.tournaments.tables import Tournament

MAX_DELAY_S: Final = 60
STEP_S: Final = 10

Pace = Literal["at_once", "rounds", "all_tables"]


@dataclass(frozen=True, slots=True)
class MatchVisibility:
    """Describe the visibility of a match: how its rows are published (``pace``), and whether its log ``is_public``."""

    status: MatchState
    reason: str | None
    is_public: bool
    pace: Pace
    rows: int
    group_id: str

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def is_delayed(self) -> bool:
        return self.pace != "at_once"


def filter_known_seats(session: Session, found: Sequence[StoredMatch]) -> set[str]:
    """Return the ids of the matches in ``found`` whose seats are public now.

    Seats are hidden in rated matches of anonymous tournaments until they are over, so that no bot can favour another.
    """
    hidden = [match for match in found if match.rated and match.status not in ENDED]
    tournaments = {match.tournament_id for match in hidden if match.tournament_id is not None}
    query = select(Tournament.id).where(Tournament.id.in_(tournaments), Tournament.anonymous)
    anonymous = set(session.scalars(query)) if tournaments else set()
    return {match.id for match in found} - {match.id for match in hidden if match.tournament_id in anonymous}


def has_known_seats() -> ColumnElement[bool]:
    """Return the condition for matches with public seats: unrated, ended, or not in an anonymous tournament."""
    is_anonymous = exists().where(Tournament.id == StoredMatch.tournament_id, Tournament.anonymous)
    return or_(StoredMatch.rated.is_(False), StoredMatch.status.in_(ENDED), ~is_anonymous)


def load_visibilities(session: Session, match_ids: Collection[str]) -> dict[str, MatchVisibility]:
    """Return the visibility of these matches, keyed by match id. Omit matches that do not exist."""
    other = aliased(StoredMatch)
    shared = exists().where(
        other.group_id == StoredMatch.group_id, other.id != StoredMatch.id, other.status.not_in(ENDED)
    )
    columns = [getattr(StoredMatch, name) for name in ("id", "status", "reason", "rated", "rows", "group_id")]
    query = select(*columns, DealGroup.state, Tournament.anonymous, shared)
    query = query.join(DealGroup, DealGroup.id == StoredMatch.group_id)
    query = query.outerjoin(Tournament, Tournament.id == StoredMatch.tournament_id).where(StoredMatch.id.in_(match_ids))
    found = {}
    for row in session.execute(query):
        id, status, reason, rated, rows, group_id, group, anonymous, is_shared = tuple(row)
        pace = _pace(delayed=rated and anonymous is not False, shared=is_shared, ended=status in ENDED)
        found[id] = MatchVisibility(status, reason, group == DealGroupState.REVEALED, pace, rows, group_id)
    return found


def _pace(*, delayed: bool, shared: bool, ended: bool) -> Pace:
    """Return how rows are published. ``shared`` means that other open matches play the same cards."""
    if not delayed:
        return "at_once"
    if shared:
        return "all_tables"
    return "at_once" if ended else "rounds"


def load_visibility(session: Session, match_id: str) -> MatchVisibility:
    """Return the visibility of a match. Raise ``NotFound`` if there is no such match."""
    found = load_visibilities(session, [match_id])
    if match_id not in found:
        raise NotFound("match", match_id)
    return found[match_id]


def load_placements(session: Session, match_id: str) -> list[int] | None:
    """Return the placements in seat order, or None if the match has no result."""
    query = select(MatchSeat.placement).where(MatchSeat.match_id == match_id).order_by(MatchSeat.seat)
    found = [placement for placement in session.scalars(query) if placement is not None]
    return found or None


class MatchFeed:
    """Collect the public rows of a match for all its spectators. Each ``read_new_rows`` continues where the last ended.

    ``tables`` caches the progress of other matches with the same cards.
    """

    def __init__(self, match_id: str, tables: DealGroupProgress) -> None:
        self.match_id = match_id
        self.items: list[Json] = []  # numbers and masked events of published rows, as in ``PublicView``
        self._tables = tables
        self._view: PublicView | None = None
        self._header: Json = {}
        self._held: list[tuple[Json, float | None]] = []  # unpublished rows; before these times they are hidden
        self._read = 0  # number of rows read from the log
        self._drawn = DrawCounts()  # draws in published rows
        self._next = DrawCounts()  # lower bound of the draws up to the first unpublished row
        self._whole = False  # no more rows will follow

    def read_new_rows(self, session: Session, visibility: MatchVisibility) -> list[Json]:
        """Publish the rows that have become public since the last call. Return their items."""
        last = self._tables.find_slowest(session, visibility.group_id) if visibility.pace == "all_tables" else None
        if last is not None and not self._next.is_behind(last):
            return []  # whatever has been recorded, none of it may be published
        if not self._whole:
            self._read_recorded(session, visibility)
        if self._held and self._first_row()["game"] not in catalogue():
            return []  # only the rules of a game know what of an event is hidden
        return self._publish(self._count_public(session, visibility, last))

    def _first_row(self) -> Json:
        return self._header or self._held[0][0]

    def _publish(self, count: int) -> list[Json]:
        freed = [row for row, _ in self._held[:count]]
        if not freed:
            return []
        if self._view is None:
            self._header = freed[0]
            self._view = PublicView(self._header)
        items = self._view.add(freed)
        del self._held[:count]
        for row in freed:
            self._drawn.add(row)
        self.items += items
        return items

    def _read_recorded(self, session: Session, visibility: MatchVisibility) -> None:
        start = self._read
        if visibility.has_ended:
            rows = [parse_row(line) for line in logs.log_lines(session, self.match_id, start=start)]
            self._held += [(row, None) for row in rows if row["type"] != "reveal"]
            self._read = start + len(rows)
            self._whole = True
        elif visibility.rows > start:
            query = select(LogRow.line, LogRow.recorded_at, LogRow.delays_ms)
            query = query.where(LogRow.match_id == self.match_id, LogRow.row >= start)
            for line, recorded_at, delays_ms in session.execute(query.order_by(LogRow.row)):
                self._held += _split(parse_row(line), recorded_at, delays_ms)
                self._read += 1

    def _count_public(self, session: Session, visibility: MatchVisibility, last: DrawCounts | None) -> int:
        """Return how many of the held rows are public now."""
        if last is not None:
            return self._count_played_by_all(last)
        if visibility.pace == "rounds":
            return self._count_past_rounds(session)
        return len(self._held) if visibility.has_ended else self._count_past_delays(session)

    def _count_played_by_all(self, last: DrawCounts) -> int:
        """Return the number of held rows before the first one that would help a match that has drawn only ``last``."""
        self._next, count = replace(self._drawn), 0
        for row, _ in self._held:
            self._next.add(row)
            if not self._next.is_behind(last):
                break
            count += 1
        return count

    def _count_past_delays(self, session: Session) -> int:
        """Return the number of held rows before the first one whose forced move is not shown yet."""
        now: float = current_time(session).timestamp()
        for count, (_, shown_at) in enumerate(self._held):
            if shown_at is not None and shown_at > now:
                return count
        return len(self._held)

    def _count_past_rounds(self, session: Session) -> int:
        """Return the number of held rows up to the last one that begins a round or is old enough."""
        seconds: float = current_time(session).timestamp()
        newest = seconds // STEP_S * STEP_S - MAX_DELAY_S
        for count in range(len(self._held), 0, -1):
            row, recorded_at = self._held[count - 1]
            if (recorded_at is not None and recorded_at <= newest) or opens_round(row, self._first_row()):
                return count
        return 0


def _split(row: Json, recorded_at: float, delays_ms: Sequence[float] | None) -> Iterator[tuple[Json, float]]:
    """Yield the parts of a row whose events are shown at the same time, with this time."""
    if not delays_ms:
        yield row, recorded_at
        return
    kind = row["type"]
    for delay_ms, shown in groupby(zip(delays_ms, row["events"], strict=True), key=itemgetter(0)):
        part = {"events": [event for _, event in shown]}
        yield ({**row, **part} if kind else {"type": "part", **part}), recorded_at + delay_ms / 1000
        kind = ""
