"""Count the bots of a ladder in bands of ratings, from which ``ladder_rows`` computes ranks on ladders of any size.

Anchors and bots without a match that counts are not counted.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from referee.db.prepared import Prepared, upsert_columns
from referee.ladders.rating_replay import RatingState
from referee.ladders.tables import RatingCount
from referee.ratings.elo import MICRO

BAND: Final = MICRO  # width of a band


def count_bands(ratings: Iterable[RatingState]) -> Counter[int]:
    """Return the number of these ratings in each band. Ignore anchors and bots without a match."""
    return Counter(state.value // BAND for state in ratings if state.games)


def update_counts(
    session: Session, ladder_id: str, before: Iterable[RatingState], after: Iterable[RatingState]
) -> None:
    """Update the counts for ratings that changed from ``before`` to ``after``."""
    change = count_bands(after)
    change.subtract(count_bands(before))
    rows = [{"ladder_id": ladder_id, "band": band, "bots": bots} for band, bots in sorted(change.items()) if bots]
    _ADD_TO_COUNT.execute_all(session, rows)


def replace_counts(session: Session, ladder_id: str, ratings: Iterable[RatingState]) -> None:
    """Replace the counts of the ladder by those of these ratings."""
    session.execute(delete(RatingCount).where(RatingCount.ladder_id == ladder_id))
    update_counts(session, ladder_id, (), ratings)


_ADD_TO_COUNT = Prepared(upsert_columns(RatingCount.__table__, key=["ladder_id", "band"], add=["bots"]))
