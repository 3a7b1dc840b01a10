"""Read the list of the bots of due matches, and what it should contain."""

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from referee.db.engine import Database
from referee.matches.states import OPEN, DealGroupState
from referee.matches.tables import DealGroup, MatchSeat, QueuedSeat, StoredMatch

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


def unclosed_groups(session: Session) -> list[str]:
    """Return ids of deal groups that are not revealed although all their matches have ended."""
    of_group = select(StoredMatch.id).where(StoredMatch.group_id == DealGroup.id)
    has_ended = and_(~of_group.where(StoredMatch.status.in_(OPEN)).exists(), of_group.exists())
    return list(session.scalars(select(DealGroup.id).where(DealGroup.state != DealGroupState.REVEALED, has_ended)))
