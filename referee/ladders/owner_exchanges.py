"""Sum up what the bots of each two owners exchange on a ladder in a month, so that arranged results show.

A gain is what the rating formula gives with the same K for all, before the daily caps, which would hide how far a pair
exceeds them. If ratings are right, a gain is expected to be 0, and its variance is the sum of those of the single games
of two. A voided result is subtracted again. ``ledger`` and ``repairs`` call this; the sums change no rating.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from itertools import combinations
from typing import Any, Final, NamedTuple

from sqlalchemy import Double, bindparam, cast, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlalchemy.sql import Insert

from referee.db.prepared import Prepared
from referee.ladders.rating_replay import RatedSeats, RatingMove
from referee.ladders.tables import LedgerEntry, OwnerExchange, RatingChange
from referee.matches.tables import Result
from referee.ratings.elo import MICRO, SCALE, expectation, score
from referee.ratings.exchange import ANCHORS, Parties

MILLI: Final = 1_000
K: Final = 20  # at stake in these sums, so that each meeting weighs the same
SLACK: Final = K**2  # squared points added to the variance, so that a single surprise does not lead the list


class Exchanged(NamedTuple):
    """Hold the encounters of two parties, what the second gained (micro-points), and its variance (points² / 1000)."""

    encounters: int = 0
    gain: int = 0
    variance: int = 0

    def plus(self, other: "Exchanged") -> "Exchanged":
        return Exchanged(*(own + more for own, more in zip(self, other, strict=True)))


Sums = dict[Parties, Exchanged]


def before_of(moves: Iterable[RatingMove]) -> dict[str, int]:
    """Return the rating of each bot before the result that caused these changes, keyed by bot id."""
    return {move.bot_id: move.before.value for move in moves}


def sums_of(seats: RatedSeats, before: Mapping[str, int]) -> Sums:
    """Return what a result exchanges between parties, which are those of ``referee.ratings.exchange``.

    ``before`` has the bots that count; without any, as on a frozen ladder, nothing is counted.
    """
    counted = [seat for seat, bot in enumerate(seats.bots) if bot in before]
    sums: Sums = {}
    for first, second in combinations(counted, 2):
        parties = _owner(seats, first), _owner(seats, second)
        if parties[0] == parties[1]:
            continue
        if parties[0] > parties[1]:
            first, second, parties = second, first, parties[::-1]
        one, other = before[seats.bots[first]], before[seats.bots[second]]
        found = _exchange(one, other, seats.placements[first], seats.placements[second], len(counted) - 1)
        sums[parties] = sums.get(parties, Exchanged()).plus(found)
    return sums


def add(session: Session, ladder_id: str, month: date, results: Iterable[Sums]) -> None:
    """Add what results of a month exchanged."""
    _add(session, ladder_id, month, _total(results).items())


def subtract(session: Session, ladder_id: str, entry: int) -> None:
    """Subtract the result of ledger entry ``entry``, which has just been voided and was added before."""
    query = select(LedgerEntry.created_at, *_FACTS).join(Result, Result.match_id == LedgerEntry.match_id)
    found = session.execute(query.where(LedgerEntry.seq == entry)).one_or_none()
    if found is None:
        return
    created_at, *facts = found
    sums = sums_of(RatedSeats(*facts), _load_before(session, entry))
    negative = {parties: Exchanged(*(-number for number in exchanged)) for parties, exchanged in sums.items()}
    _add(session, ladder_id, created_at.date().replace(day=1), negative.items())


def replace(session: Session, ladder_id: str, months: Mapping[date, Sums]) -> None:
    """Replace all sums of a ladder by these, keyed by month."""
    session.execute(delete(OwnerExchange).where(OwnerExchange.ladder_id == ladder_id))
    for month, sums in months.items():
        _add(session, ladder_id, month, sums.items())


def merge(total: Sums, sums: Sums) -> None:
    """Add ``sums`` to ``total``, in place."""
    for parties, exchanged in sums.items():
        total[parties] = total.get(parties, Exchanged()).plus(exchanged)


def _exchange(rating: int, other: int, placement: int, other_placement: int, pairs: int) -> Exchanged:
    """Return one meeting, with what the second of two seats gains from the first. Each seat has as many ``pairs``."""
    expected = expectation(other - rating)
    gain = K * (score(other_placement, placement) - expected) * MICRO // (SCALE * pairs)
    return Exchanged(1, gain, MILLI * K**2 * expected * (SCALE - expected) // (pairs**2 * SCALE**2))


def _owner(seats: RatedSeats, seat: int) -> str:
    return ANCHORS if seats.anchors[seat] is not None else str(seats.owners[seat])


def _load_before(session: Session, entry: int) -> dict[str, int]:
    """Return what ``before_of`` returns, from the stored changes of a ledger entry."""
    query = select(RatingChange.bot_id, RatingChange.before).where(RatingChange.seq == entry)
    return dict(session.execute(query).all())


def _total(results: Iterable[Sums]) -> Sums:
    total: Sums = {}
    for sums in results:
        merge(total, sums)
    return total


def _add(session: Session, ladder_id: str, month: date, sums: Iterable[tuple[Parties, Exchanged]]) -> None:
    rows = [_row(ladder_id, month, parties, exchanged) for parties, exchanged in sorted(sums)]
    if rows:
        _ADD.execute_all(session, rows)


def _row(ladder_id: str, month: date, parties: Parties, exchanged: Exchanged) -> dict[str, Any]:
    key = {"ladder_id": ladder_id, "month": month, "party": parties[0], "owner_id": parties[1]}
    excess = (exchanged.gain / MICRO) ** 2 / (exchanged.variance / MILLI + SLACK)
    return {**key, **exchanged._asdict(), "excess": excess}


def _upsert(insert_of: Any) -> Insert:
    """Return the statement that adds a row to the sums of its parties and computes their excess again."""
    table = OwnerExchange.__table__
    added = insert_of(table).values({column.name: bindparam(column.name) for column in table.c})
    sums: dict[str, Any] = {name: table.c[name] + added.excluded[name] for name in Exchanged._fields}
    points, variance = cast(sums["gain"], Double) / MICRO, cast(sums["variance"], Double) / MILLI
    changes = {**sums, "excess": points * points / (variance + SLACK)}
    key = ["ladder_id", "month", "party", "owner_id"]
    upsert: Insert = added.on_conflict_do_update(index_elements=key, set_=changes)
    return upsert


_FACTS: Final = [Result.bots, Result.placements, Result.rated, Result.owners, Result.versions, Result.anchors]
_ADD: Final = Prepared({"sqlite": _upsert(sqlite.insert), "postgresql": _upsert(postgresql.insert)})
