"""Read the list of the bots of due matches, and what it should contain."""

from sqlalchemy import func, select

from referee.db.engine import Database
from referee.matches.tables import MatchSeat, QueuedSeat, StoredMatch

Seats = set[tuple[str, str, int]]  # match, bot, its first seat


def listed(database: Database) -> Seats:
    """Return what is listed."""
    with database.read() as session:
        return {(row.match_id, row.bot_id, row.seat) for row in session.scalars(select(QueuedSeat))}


def due_seats(database: Database) -> Seats:
    """Return what should be listed."""
    query = select(MatchSeat.match_id, MatchSeat.bot_id, func.min(MatchSeat.seat))
    query = query.join(StoredMatch, StoredMatch.id == MatchSeat.match_id).where(StoredMatch.status == "due")
    with database.read() as session:
        return {(*row,) for row in session.execute(query.group_by(MatchSeat.match_id, MatchSeat.bot_id))}
