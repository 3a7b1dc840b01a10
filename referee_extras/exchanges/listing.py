"""List what owners gained from each other on a ladder in a month, from the sums in ``owner_exchanges``."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from math import sqrt
from typing import Final

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.db.lookup import load_by_id
from referee.db.paging import Cursor, Page, check_limit
from referee.errors import BadOption
from referee.ladders import ratings
from referee.ladders.owner_exchanges import MILLI, SLACK
from referee.ladders.tables import OwnerExchange
from referee.ratings.elo import MICRO
from referee.ratings.exchange import ANCHORS

STRIKING: Final = 4.0  # gains of more than this many units of chance deserve a look


@dataclass(frozen=True, slots=True)
class ExchangedPoints:
    """Describe what an owner gained from another, in points; ``loser_id`` is None for the house players.

    ``chance`` is how many points chance explains (a standard deviation), and ``deviation`` the gain in such units.
    """

    owner_id: str
    owner_name: str
    loser_id: str | None
    loser_name: str | None
    encounters: int
    points: float
    chance: float
    deviation: float

    @property
    def is_striking(self) -> bool:
        return self.deviation > STRIKING


def list_exchanges(
    session: Session, ladder_id: str, month: date, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[ExchangedPoints]:
    """Return a page of what owners gained from each other in a month, those that chance explains least first.

    The cost depends on the page alone. Raise ``NotFound`` for an unknown ladder.
    """
    check_limit(limit)
    ratings.get_ladder(session, ladder_id)
    row = OwnerExchange
    query = select(row).where(row.ladder_id == ladder_id, row.month == month)
    if cursor is not None:
        excess, party, owner_id = _position_in(cursor)
        behind = or_(row.party > party, and_(row.party == party, row.owner_id > owner_id))
        query = query.where(row.excess <= excess, or_(row.excess < excess, behind))
    query = query.where(row.encounters > 0).order_by(row.excess.desc(), row.party, row.owner_id)
    rows = list(session.scalars(query.limit(limit + 1)))
    owners = {owner for found in rows for owner in (found.party, found.owner_id) if owner}
    names = load_by_id(session, Account.id, Account.name, owners)
    last = rows[limit - 1] if len(rows) > limit else None
    following = None if last is None else [last.excess, last.party, last.owner_id]
    return Page([_describe(found, names) for found in rows[:limit]], following)


def _describe(row: OwnerExchange, names: Mapping[str, str]) -> ExchangedPoints:
    winner, loser = (row.owner_id, row.party) if row.gain >= 0 else (row.party, row.owner_id)
    if winner == ANCHORS:  # the house players gain nothing that matters; show what the owner lost
        winner, loser = loser, winner
    points = (row.gain if winner == row.owner_id else -row.gain) / MICRO
    chance = sqrt(row.variance / MILLI + SLACK)
    of_loser = loser or None, names[loser] if loser else None
    return ExchangedPoints(winner, names[winner], *of_loser, row.encounters, points, chance, points / chance)


def _position_in(cursor: Cursor) -> tuple[float, str, str]:
    match list(cursor):
        case [int() | float() as excess, str(party), str(owner_id)] if not isinstance(excess, bool):
            return float(excess), party, owner_id
    raise BadOption("cursor", "must be the cursor of a previous page")
