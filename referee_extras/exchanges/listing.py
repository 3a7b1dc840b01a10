"""List what owners gained from each other on a ladder in a month, from the sums in ``owner_exchanges``."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from math import sqrt
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.db.lookup import load_by_id
from referee.db.paging import Cursor, Page, load_page
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
    ratings.get_ladder(session, ladder_id)
    row = OwnerExchange
    query = select(row).where(row.ladder_id == ladder_id, row.month == month, row.encounters > 0)
    page = load_page(session, query, row.excess.desc(), row.party, row.owner_id, limit=limit, cursor=cursor)
    owners = {owner for found in page.items for owner in (found.party, found.owner_id) if owner}
    names = load_by_id(session, Account.id, Account.name, owners)
    return Page([_describe(found, names) for found in page.items], page.next)


def _describe(row: OwnerExchange, names: Mapping[str, str]) -> ExchangedPoints:
    winner, loser = (row.owner_id, row.party) if row.gain >= 0 else (row.party, row.owner_id)
    if winner == ANCHORS:  # the house players gain nothing that matters; show what the owner lost
        winner, loser = loser, winner
    points = (row.gain if winner == row.owner_id else -row.gain) / MICRO
    chance = sqrt(row.variance / MILLI + SLACK)
    of_loser = loser or None, names[loser] if loser else None
    return ExchangedPoints(winner, names[winner], *of_loser, row.encounters, points, chance, points / chance)
