"""What of a match may be told now, while it is played and after.

Of a match whose seats are hidden (rated play, see ``matches.seats_told``) rows are told in groups: all of a round once
the next has begun or the match is over; and what is older than ``HELD_S``, looked for only every ``STEP_S`` of the
clock. So the moment at which a row comes tells when a round ended, or which ten seconds it belongs to, and never how
long a seat thought. Of all other matches rows are told as soon as they are recorded. How a row may be read is decided
in ``matchlog``: nobody is told more than masked events before the deal group is over.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.canonical import Json
from referee.errors import NotFound
from referee.matchlog import PublicView, opens_round
from referee.rows import parsed
from referee.store.db import now
from referee.store.play import groups, logs
from referee.store.schema import Group, LogRow, Match, MatchSeat, Tournament

HELD_S: Final = 60
STEP_S: Final = 10


@dataclass(frozen=True, slots=True)
class Standing:
    """How a match stands. ``hidden``: nobody may know who plays it, so its rows are told in groups; ``open``: its deal
    group is over and everybody may read its log; ``rows`` are recorded."""

    status: str
    reason: str | None
    open: bool
    hidden: bool
    rows: int

    @property
    def ended(self) -> bool:
        return self.status in groups.ENDED


def standings(session: Session, match_ids: Collection[str]) -> dict[str, Standing]:
    """Those of these matches that there are."""
    columns: Sequence[Any] = (Match.id, Match.status, Match.reason, Match.rated, Match.rows, Group.state)
    query = select(*columns, Tournament.open_seats).join(Group, Group.id == Match.group_id)
    query = query.outerjoin(Tournament, Tournament.id == Match.tournament_id).where(Match.id.in_(match_ids))
    found = {}
    for row in session.execute(query):
        id, status, reason, rated, rows, group, open_seats = tuple(row)
        hidden = rated and status not in groups.ENDED and not open_seats
        found[id] = Standing(status, reason, group == "over", hidden, rows)
    return found


def standing(session: Session, match_id: str) -> Standing:
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


class Telling:
    """A match as it is told: each ``look`` reads what was recorded since, once for everybody who watches."""

    def __init__(self, match_id: str) -> None:
        self.match_id = match_id
        self.items: list[Json] = []  # of the rows that were told: number and masked events
        self._view: PublicView | None = None
        self._header: Json = {}
        self._held: list[tuple[Json, float | None]] = []  # rows not told yet, and when they were recorded
        self._whole = False  # nothing will follow

    def look(self, session: Session, standing: Standing) -> list[Json]:
        """The items that may be told since the last look."""
        if not self._whole:
            self._read(session, standing)
        count = self._released(session) if standing.hidden else len(self._held)
        freed = [row for row, _ in self._held[:count]]
        del self._held[:count]
        if not freed:
            return []
        if self._view is None:
            self._header, self._view = freed[0], PublicView(freed[0])
        items = self._view.add(freed)
        self.items += items
        return items

    def _read(self, session: Session, standing: Standing) -> None:
        start = len(self.items) + len(self._held)
        if standing.ended:
            rows = [parsed(line) for line in logs.log_lines(session, self.match_id, start=start)]
            self._held += [(row, None) for row in rows if row["type"] != "reveal"]
            self._whole = True
        elif standing.rows > start:
            query = select(LogRow.line, LogRow.recorded_at).where(LogRow.match_id == self.match_id, LogRow.row >= start)
            for line, recorded_at in session.execute(query.order_by(LogRow.row)):
                self._held.append((parsed(line), recorded_at))

    def _released(self, session: Session) -> int:
        """How many of those held may go: up to the last that begins a round, or that is old enough."""
        seconds: float = now(session).timestamp()
        newest = seconds // STEP_S * STEP_S - HELD_S
        header = self._header or (self._held[0][0] if self._held else {})
        for place in range(len(self._held), 0, -1):
            row, recorded_at = self._held[place - 1]
            if (recorded_at is not None and recorded_at <= newest) or opens_round(row, header):
                return place
        return 0
