"""Places on a ladder, from counts of the bots in bands of ratings: as cheap among 100,000 bots as among 100.

A place is one more than the bots above: those in the wide bands above one's own, in the narrow bands above one's own
within that, and the few above within one's own narrow band. Bots without a match that counts are on no ladder.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Insert, bindparam, delete, func, select
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.orm import Session

from referee.db.engine import database_of
from referee.ladders.rating_replay import Held
from referee.ladders.tables import Rating, RatingCount
from referee.ratings.elo import MICRO, START

NARROW: Final = MICRO
WIDE: Final = 64 * MICRO

Band = tuple[int, int]  # width and number


@dataclass(frozen=True, slots=True)
class LadderRank:
    """Where a bot stands: ``place`` of ``of``; equal ratings share a place."""

    place: int
    of: int
    value: int
    games: int
    as_of_seq: int


def place_of(session: Session, ladder_id: str, bot_id: str) -> LadderRank | None:
    """The bot's own place; None where no match of it counts."""
    found = session.connection().execute(_OWN, {"ladder": ladder_id, "bot": bot_id}).one_or_none()
    if found is None:
        return None
    value, games, as_of_seq = found
    where = {"ladder": ladder_id, "value": value, "narrow": value // NARROW, "wide": value // WIDE}
    above, total = 0, 0
    for width, band, bots in session.connection().execute(_BANDS, {**where, "next": (value // WIDE + 1) * 64}):
        total += bots if width == WIDE else 0
        above += bots if band > value // width else 0
    end = (value // NARROW + 1) * NARROW
    # Bots without a match stand at the start, nowhere else: elsewhere the index alone tells.
    within = _PLAYED_WITHIN if value < START < end else _WITHIN
    above += session.connection().execute(within, {**where, "end": end}).scalar_one()
    return LadderRank(above + 1, total, value, games, as_of_seq)


def bands(held: Iterable[Held]) -> Counter[Band]:
    """How many of these ratings lie in each band, of either width."""
    counted: Counter[Band] = Counter()
    for value, games in held:
        if games:
            counted[NARROW, value // NARROW] += 1
            counted[WIDE, value // WIDE] += 1
    return counted


def count_moves(session: Session, ladder_id: str, before: Iterable[Held], after: Iterable[Held]) -> None:
    """Brings the counts up to date: these ratings were as ``before`` and are as ``after``."""
    change = bands(after)
    change.subtract(bands(before))
    rows = [
        {"ladder_id": ladder_id, "width": width, "band": band, "bots": bots}
        for (width, band), bots in sorted(change.items())
        if bots
    ]
    if rows:
        session.connection().execute(_ADD[database_of(session).is_sqlite], rows)


def count_anew(session: Session, ladder_id: str, held: Iterable[Held]) -> None:
    """Puts counts of just these ratings in place of what is there."""
    session.execute(delete(RatingCount).where(RatingCount.ladder_id == ladder_id))
    count_moves(session, ladder_id, (), held)


# Built once: these run for every result and every page.
_RATINGS, _COUNTS = (model.__table__ for model in (Rating, RatingCount))
_OWN = select(_RATINGS.c.value, _RATINGS.c.games, _RATINGS.c.as_of_seq).where(
    _RATINGS.c.ladder_id == bindparam("ladder"), _RATINGS.c.bot_id == bindparam("bot"), _RATINGS.c.games > 0
)
_BANDS = (
    select(_COUNTS.c.width, _COUNTS.c.band, _COUNTS.c.bots)
    .where(_COUNTS.c.ladder_id == bindparam("ladder"), _COUNTS.c.width == WIDE)
    .union_all(
        select(_COUNTS.c.width, _COUNTS.c.band, _COUNTS.c.bots).where(
            _COUNTS.c.ladder_id == bindparam("ladder"),
            _COUNTS.c.width == NARROW,
            _COUNTS.c.band > bindparam("narrow"),
            _COUNTS.c.band < bindparam("next"),
        )
    )
)
_WITHIN = (
    select(func.count())
    .select_from(_RATINGS)
    .where(_RATINGS.c.ladder_id == bindparam("ladder"))
    .where(_RATINGS.c.value > bindparam("value"), _RATINGS.c.value < bindparam("end"))
)
_PLAYED_WITHIN = _WITHIN.where(_RATINGS.c.games > 0)


def _adding(sqlite: bool) -> Insert:
    row: dict[str, Any] = {column.name: bindparam(column.name) for column in _COUNTS.c}
    added = (sqlite_insert if sqlite else postgres_insert)(_COUNTS).values(row)
    return added.on_conflict_do_update(
        index_elements=["ladder_id", "width", "band"], set_={"bots": _COUNTS.c.bots + added.excluded.bots}
    )


_ADD = {sqlite: _adding(sqlite) for sqlite in (True, False)}
