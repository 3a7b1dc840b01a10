"""Store what owners exchanged on a ladder today, so that the cap of a day costs a fixed number of statements.

A ladder keeps the sums of one day: the UTC day of its last entry with a result.
"""

from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Final

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.orm import Session

from referee.db.prepared import Prepared, upsert_columns
from referee.ladders.rating_replay import RatedSeats
from referee.ladders.tables import DailyExchange, Ladder
from referee.ratings.exchange import ANCHORS, Parties


def parties_of(seats: RatedSeats) -> set[Parties]:
    """Return the parties that exchange something by a result."""
    owners = sorted(str(owner) for owner, rated in zip(seats.owners, seats.rated, strict=True) if rated)
    has_anchor = any(anchor is not None for anchor in seats.anchors)
    return {*combinations(owners, 2), *((ANCHORS, owner) for owner in owners if has_anchor)}


def load_sums(session: Session, ladder_id: str, parties: Collection[Parties]) -> dict[Parties, int]:
    """Return the sums of those of these parties that exchanged something on the ladder's day."""
    wanted = [{"ladder": ladder_id, "party": party, "owner": owner} for party, owner in sorted(parties)]
    found = _GAIN.rows_of_each(session, wanted)
    return {(row["party"], row["owner"]): gain for row, gains in zip(wanted, found, strict=True) for (gain,) in gains}


def load_all_sums(session: Session, ladder_id: str) -> dict[Parties, int]:
    """Return all sums of the ladder's day."""
    query = select(DailyExchange.party, DailyExchange.owner_id, DailyExchange.gain)
    rows = session.execute(query.where(DailyExchange.ladder_id == ladder_id))
    return {(party, owner): gain for party, owner, gain in rows}


def begin_day(session: Session, ladder_id: str, day: int) -> None:
    """Delete the sums of the day before, and set the day of the ladder, as a ``date.toordinal``."""
    _DELETE.execute(session, {"of": ladder_id})
    _SET_DAY.execute(session, {"of": ladder_id, "day": day})


def store_sums(session: Session, ladder_id: str, sums: Mapping[Parties, int]) -> None:
    """Insert or update these sums of the ladder's day."""
    rows = [
        {"ladder_id": ladder_id, "party": party, "owner_id": owner, "gain": gain}
        for (party, owner), gain in sorted(sums.items())
    ]
    if rows:
        _UPSERT.execute_all(session, rows)


def replace_sums(session: Session, ladder_id: str, day: int, sums: Mapping[Parties, int]) -> None:
    """Replace the day and all sums of the ladder."""
    begin_day(session, ladder_id, day)
    store_sums(session, ladder_id, sums)


_SUMS = DailyExchange.__table__
_LADDERS = Ladder.__table__
_GAIN: Final = Prepared(
    select(_SUMS.c.gain).where(
        _SUMS.c.ladder_id == bindparam("ladder"),
        _SUMS.c.party == bindparam("party"),
        _SUMS.c.owner_id == bindparam("owner"),
    )
)
_DELETE: Final = Prepared(delete(_SUMS).where(_SUMS.c.ladder_id == bindparam("of")))
_SET_DAY: Final = Prepared(
    update(_LADDERS).where(_LADDERS.c.id == bindparam("of")).values(exchange_day=bindparam("day"))
)

_UPSERT: Final = Prepared(upsert_columns(_SUMS, key=["ladder_id", "party", "owner_id"]))
