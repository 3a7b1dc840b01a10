"""Read the seats of all results of a tournament or another selection, in pages."""

from typing import Final

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from referee.matches.lists.download_seats import SeatRow, seats_of
from referee.matches.tables import Result, StoredMatch

PAGE_SIZE: Final = 200
ResultFilter = ColumnElement[bool]  # an SQL condition on results


def load_result_seats(session: Session, condition: ResultFilter, *, after: int, until: int) -> list[SeatRow]:
    """Return the seats of up to ``PAGE_SIZE`` matches with ``after`` < ``seq`` <= ``until``, in order of ``seq``."""
    found = select(Result, StoredMatch).join(StoredMatch, StoredMatch.id == Result.match_id)
    found = found.where(condition, Result.seq > after, Result.seq <= until)
    rows = session.execute(found.order_by(Result.seq).limit(PAGE_SIZE))
    return seats_of(session, [(result, match) for result, match in rows])


def is_in_tournament(tournament_id: str) -> ResultFilter:
    """Return the SQL condition for results of a tournament that are read in order of ``seq``.

    The concatenation keeps the database from using the index on the column and then sorting all matches for each page.
    """
    return StoredMatch.tournament_id.concat("") == tournament_id
