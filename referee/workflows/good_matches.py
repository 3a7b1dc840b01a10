"""Choose a match of a game that is worth watching, for people who see the game for the first time."""

from typing import Final

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from referee.ladders.tables import Rating
from referee.matches.states import DealGroupState, MatchState
from referee.matches.tables import DealGroup, MatchSeat, Result, StoredMatch

RECENT: Final = 50  # matches to choose from


def find_good_match(session: Session, game: str) -> str | None:
    """Return the id of the recent match whose players have the highest mean rating now, or None if there is none.

    It is finished and rated, and its log is public and not deleted.
    """
    recent = (
        select(StoredMatch.id)
        .join(DealGroup, DealGroup.id == StoredMatch.group_id)
        .where(
            StoredMatch.status == MatchState.FINISHED,
            StoredMatch.game == game,
            StoredMatch.rated,
            StoredMatch.log_deleted_at.is_(None),
            DealGroup.state == DealGroupState.REVEALED,
        )
        .order_by(StoredMatch.created_at.desc(), StoredMatch.id.desc())
        .limit(RECENT)
        .subquery()
    )
    strength = (
        select(Result.match_id)
        .join(recent, recent.c.id == Result.match_id)
        .join(MatchSeat, MatchSeat.match_id == Result.match_id)
        .join(Rating, and_(Rating.ladder_id == Result.ladder_id, Rating.bot_id == MatchSeat.bot_id))
        .group_by(Result.match_id, Result.seq)
        .order_by(func.avg(Rating.value).desc(), Result.seq.desc())
        .limit(1)
    )
    return session.scalar(strength)
