"""What of a match may be told now, while it is played and after.

Of a match whose seats are hidden (rated play, see ``seats_told``) rows are told in groups: all of a round once
the next has begun or the match is over; and what is older than ``HELD_S``, looked for only every ``STEP_S`` of the
clock. So the moment at which a row comes tells when a round ended, or which ten seconds it belongs to, and never how
long a seat thought. Where others still play the same cards, and could be told by who watches, rows are told when all
have been dealt the next ones, or are over (``sharing``). Of all other matches rows are told as soon as they are
recorded. How a row may be read is decided in ``match.log``: nobody is told more than masked events before the group
is over.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, exists, or_, select
from sqlalchemy.orm import Session, aliased

from referee.db.engine import current_time
from referee.errors import NotFound
from referee.match.canonical import Json
from referee.match.log import PublicView, opens_round, parse_row
from referee.matches import deal_groups, logs
from referee.matches.deal_progress import DealGroupProgress, Drawn
from referee.matches.tables import DealGroup, LogRow, Match, MatchSeat
from referee.tournaments.tables import Tournament

HELD_S: Final = 60
STEP_S: Final = 10

Pace = Literal["at_once", "rounds", "all_tables"]


@dataclass(frozen=True, slots=True)
class MatchVisibility:
    """How a match stands. ``pace``: how its rows are told; ``open``: its deal group is over and everybody may read its
    log; ``rows`` are recorded."""

    status: str
    reason: str | None
    open: bool
    pace: Pace
    rows: int
    group_id: str

    @property
    def ended(self) -> bool:
        return self.status in deal_groups.ENDED

    @property
    def held_back(self) -> bool:
        return self.pace != "at_once"


def seats_told(session: Session, found: Sequence[Match]) -> set[str]:
    """The ids of those of these matches whose seats everybody may know now: a bot that knew its rivals could favour
    a friend."""
    hidden = [match for match in found if match.rated and match.status not in deal_groups.ENDED]
    events = {match.tournament_id for match in hidden if match.tournament_id is not None}
    query = select(Tournament.id).where(Tournament.id.in_(events), Tournament.anonymous.is_(False))
    telling = set(session.scalars(query)) if events else set()
    kept = {match.id for match in hidden if match.tournament_id not in telling}
    return {match.id for match in found} - kept


def has_known_seats() -> ColumnElement[bool]:
    """Return the condition for matches whose seats everybody may know: all but rated ones that are not over, unless
    the tournament is not anonymous."""
    told = Match.tournament_id.in_(select(Tournament.id).where(Tournament.anonymous.is_(False)))
    return or_(Match.rated.is_(False), Match.status.in_(deal_groups.ENDED), told)


def standings(session: Session, match_ids: Collection[str]) -> dict[str, MatchVisibility]:
    """Those of these matches that there are."""
    other = aliased(Match)
    shared = exists().where(
        other.group_id == Match.group_id, other.id != Match.id, other.status.not_in(deal_groups.ENDED)
    )
    columns: Sequence[Any] = (Match.id, Match.status, Match.reason, Match.rated, Match.rows, Match.group_id)
    query = select(*columns, DealGroup.state, Tournament.anonymous, shared).join(
        DealGroup, DealGroup.id == Match.group_id
    )
    query = query.outerjoin(Tournament, Tournament.id == Match.tournament_id).where(Match.id.in_(match_ids))
    found = {}
    for row in session.execute(query):
        id, status, reason, rated, rows, group_id, group, anonymous, is_shared = tuple(row)
        pace = _pace(hidden=rated and anonymous is not False, shared=is_shared, ended=status in deal_groups.ENDED)
        found[id] = MatchVisibility(status, reason, group == "over", pace, rows, group_id)
    return found


def _pace(*, hidden: bool, shared: bool, ended: bool) -> Pace:
    """``shared``: others that are not over play the same cards."""
    if not hidden:
        return "at_once"
    if shared:
        return "all_tables"
    return "at_once" if ended else "rounds"


def standing(session: Session, match_id: str) -> MatchVisibility:
    """How one match stands; raises ``NotFound``."""
    found = standings(session, [match_id])
    if match_id not in found:
        raise NotFound("match", match_id)
    return found[match_id]


def placements(session: Session, match_id: str) -> list[int] | None:
    """Those of a match that has its result, by seat."""
    query = select(MatchSeat.placement).where(MatchSeat.match_id == match_id).order_by(MatchSeat.seat)
    found = [place for place in session.scalars(query) if place is not None]
    return found or None


class MatchFeed:
    """A match as it is told: each ``look`` reads what was recorded since, once for everybody who watches. How far other
    tables are is kept in ``tables``, for all who ask for it."""

    def __init__(self, match_id: str, tables: DealGroupProgress) -> None:
        self.match_id = match_id
        self.items: list[Json] = []  # of the rows that were told: number and masked events
        self._tables = tables
        self._view: PublicView | None = None
        self._header: Json = {}
        self._held: list[tuple[Json, float | None]] = []  # rows not told yet, and when they were recorded
        self._drawn = Drawn()  # in the rows that were told
        self._next = Drawn()  # at least, with the first that was not
        self._whole = False  # nothing will follow

    def look(self, session: Session, standing: MatchVisibility) -> list[Json]:
        """The items that may be told since the last look."""
        last = self._tables.last(session, standing.group_id) if standing.pace == "all_tables" else None
        if last is not None and not self._next.is_behind(last):
            return []  # whatever is recorded
        if not self._whole:
            self._read(session, standing)
        return self._told(self._free(session, standing, last))

    def _told(self, count: int) -> list[Json]:
        freed = [row for row, _ in self._held[:count]]
        if not freed:
            return []
        if self._view is None:
            self._header, self._view = freed[0], PublicView(freed[0])
        items = self._view.add(freed)
        del self._held[:count]
        for row in freed:
            self._drawn.add(row)
        self.items += items
        return items

    def _read(self, session: Session, standing: MatchVisibility) -> None:
        start = len(self.items) + len(self._held)
        if standing.ended:
            rows = [parse_row(line) for line in logs.log_lines(session, self.match_id, start=start)]
            self._held += [(row, None) for row in rows if row["type"] != "reveal"]
            self._whole = True
        elif standing.rows > start:
            query = select(LogRow.line, LogRow.recorded_at).where(LogRow.match_id == self.match_id, LogRow.row >= start)
            for line, recorded_at in session.execute(query.order_by(LogRow.row)):
                self._held.append((parse_row(line), recorded_at))

    def _free(self, session: Session, standing: MatchVisibility, last: Drawn | None) -> int:
        """How many of those held may go."""
        if last is not None:
            return self._played_by_all(last)
        return self._released(session) if standing.pace == "rounds" else len(self._held)

    def _played_by_all(self, last: Drawn) -> int:
        """Up to the first that is of use to somebody who is as far as this."""
        self._next, place = replace(self._drawn), 0
        for row, _ in self._held:
            self._next.add(row)
            if not self._next.is_behind(last):
                break
            place += 1
        return place

    def _released(self, session: Session) -> int:
        """Up to the last that begins a round, or that is old enough."""
        seconds: float = current_time(session).timestamp()
        newest = seconds // STEP_S * STEP_S - HELD_S
        header = self._header or (self._held[0][0] if self._held else {})
        for place in range(len(self._held), 0, -1):
            row, recorded_at = self._held[place - 1]
            if (recorded_at is not None and recorded_at <= newest) or opens_round(row, header):
                return place
        return 0
