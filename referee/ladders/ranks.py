"""Compute ranks on a ladder from counts of bots in bands of ratings, as fast with 100,000 bots as with 100.

A rank is one more than the number of bots above: those in higher wide bands, those in higher narrow bands of the same
wide band, and the few above in the same narrow band. Anchors and bots without a match that counts have no rank.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, delete, func, select
from sqlalchemy.orm import Session

from referee.db.prepared import Prepared, upsert_columns
from referee.ladders.rating_replay import RatingState
from referee.ladders.tables import Rating, RatingCount, RatingError
from referee.ratings.elo import MICRO

NARROW_BAND: Final = MICRO
WIDE_BAND: Final = 64 * MICRO

Band = tuple[int, int]  # width and number


@dataclass(frozen=True, slots=True)
class LadderRank:
    """Hold the rank of a bot: ``rank`` out of ``total``. Equal ratings share a rank.

    ``strength`` and ``strength_error`` are those of ``rating_errors.StrengthEstimate``.
    """

    rank: int
    total: int
    value: int
    games: int
    as_of_seq: int
    strength: float | None
    strength_error: float | None


def find_rank(session: Session, ladder_id: str, bot_id: str) -> LadderRank | None:
    """Return the rank of a bot, or None if none of its matches counts."""
    found = session.connection().execute(_OWN, {"ladder": ladder_id, "bot": bot_id}).one_or_none()
    if found is None:
        return None
    value, games, as_of_seq, strength, strength_error = found
    where = {"ladder": ladder_id, "value": value, "narrow": value // NARROW_BAND, "wide": value // WIDE_BAND}
    above, total = 0, 0
    for width, band, bots in session.connection().execute(_BANDS, {**where, "next": (value // WIDE_BAND + 1) * 64}):
        total += bots if width == WIDE_BAND else 0
        above += bots if band > value // width else 0
    end = (value // NARROW_BAND + 1) * NARROW_BAND
    above += session.connection().execute(_WITHIN, {**where, "end": end}).scalar_one()
    return LadderRank(above + 1, total, value, games, as_of_seq, strength, strength_error)


def count_bands(ratings: Iterable[RatingState]) -> Counter[Band]:
    """Return the number of these ratings in each band of both widths. Ignore anchors and bots without a match."""
    counted: Counter[Band] = Counter()
    for state in ratings:
        if state.games:
            counted[NARROW_BAND, state.value // NARROW_BAND] += 1
            counted[WIDE_BAND, state.value // WIDE_BAND] += 1
    return counted


def update_counts(
    session: Session, ladder_id: str, before: Iterable[RatingState], after: Iterable[RatingState]
) -> None:
    """Update the counts for ratings that changed from ``before`` to ``after``."""
    change = count_bands(after)
    change.subtract(count_bands(before))
    rows = [
        {"ladder_id": ladder_id, "width": width, "band": band, "bots": bots}
        for (width, band), bots in sorted(change.items())
        if bots
    ]
    _ADD_TO_COUNT.execute_all(session, rows)


def replace_counts(session: Session, ladder_id: str, ratings: Iterable[RatingState]) -> None:
    """Replace the counts of the ladder by those of these ratings."""
    session.execute(delete(RatingCount).where(RatingCount.ladder_id == ladder_id))
    update_counts(session, ladder_id, (), ratings)


# These statements are built once, because they run for every result and every page.
_RATINGS, _COUNTS, _ERRORS = (model.__table__ for model in (Rating, RatingCount, RatingError))
_OWN = (
    select(
        *(_RATINGS.c.value, _RATINGS.c.games, _RATINGS.c.as_of_seq),
        *(_ERRORS.c.strength, _ERRORS.c.strength_error),
    )
    .outerjoin(_ERRORS, (_ERRORS.c.ladder_id == _RATINGS.c.ladder_id) & (_ERRORS.c.bot_id == _RATINGS.c.bot_id))
    .where(_RATINGS.c.ladder_id == bindparam("ladder"), _RATINGS.c.bot_id == bindparam("bot"), _RATINGS.c.games > 0)
)
_BANDS = (
    select(_COUNTS.c.width, _COUNTS.c.band, _COUNTS.c.bots)
    .where(_COUNTS.c.ladder_id == bindparam("ladder"), _COUNTS.c.width == WIDE_BAND)
    .union_all(
        select(_COUNTS.c.width, _COUNTS.c.band, _COUNTS.c.bots).where(
            _COUNTS.c.ladder_id == bindparam("ladder"),
            _COUNTS.c.width == NARROW_BAND,
            _COUNTS.c.band > bindparam("narrow"),
            _COUNTS.c.band < bindparam("next"),
        )
    )
)
_WITHIN = (
    select(func.count())
    .select_from(_RATINGS)
    .where(_RATINGS.c.ladder_id == bindparam("ladder"))
    .where(_RATINGS.c.value > bindparam("value"), _RATINGS.c.value < bindparam("end"), _RATINGS.c.games > 0)
)

_ADD_TO_COUNT = Prepared(upsert_columns(_COUNTS, key=["ladder_id", "width", "band"], add=["bots"]))
