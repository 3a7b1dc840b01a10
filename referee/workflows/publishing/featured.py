"""Choose matches worth watching, by the ratings of their players, for the first page and the pages of games."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.ladders.tables import Ladder, Rating
from referee.matches import matches
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.logs import logs
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, StoredMatch
from referee.workflows.publishing import visibility

MAX_CANDIDATES: Final = 100  # matches that have run the longest; there are rarely more


def find_featured(session: Session, shown: str | None = None) -> StoredMatch | None:
    """Return the running match whose players have the highest mean rating, or None if none can be followed.

    The match with the id ``shown`` stays as long as it is a candidate.

    Matches of tournaments come before others. Ratings are those of the official ladder of the game; a match without any
    comes last. Only matches whose players and rows are shown immediately are candidates.
    """
    running = select(StoredMatch).where(
        StoredMatch.status == MatchState.RUNNING, StoredMatch.listed, visibility.has_known_seats()
    )
    oldest = session.scalars(running.order_by(StoredMatch.created_at, StoredMatch.id).limit(MAX_CANDIDATES)).all()
    paces = visibility.load_visibilities(session, [match.id for match in oldest])
    candidates = [match for match in oldest if paces[match.id].pace == "at_once"]
    ratings = load_mean_ratings(session, [match.id for match in candidates])
    return max(
        candidates,
        key=lambda match: (match.id == shown, match.tournament_id is not None, ratings.get(match.id, 0)),
        default=None,
    )


def find_finished(session: Session, wanted: MatchFilter, *, limit: int) -> StoredMatch | None:
    """Return the match whose players have the highest mean rating now, or None if there is none.

    Choose among the last ``limit`` matches that pass the filter and have an open log that was not deleted. Among equal
    ones, choose the newest.
    """
    has_log = StoredMatch.log_deleted_at.is_(None) & logs.has_public_log()
    found = matches.list_matches(session, wanted, where=has_log, limit=limit).items
    ratings = load_mean_ratings(session, [match.id for match in found])
    return max(found, key=lambda match: ratings.get(match.id, 0), default=None)


def load_mean_ratings(session: Session, match_ids: Sequence[str]) -> dict[str, float]:
    """Return the mean rating of the players of each match in micro-points, keyed by match id.

    Ratings are those of the official ladder of the game. Omit matches without a rated player.
    """
    mean = func.avg(Rating.value)
    query = select(MatchSeat.match_id, mean).join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
    query = query.join(Ladder, (Ladder.game == StoredMatch.game) & Ladder.official & ~Ladder.unlisted)
    query = query.join(Rating, (Rating.ladder_id == Ladder.id) & (Rating.bot_id == MatchSeat.bot_id))
    query = query.where(MatchSeat.match_id.in_(match_ids)).group_by(MatchSeat.match_id)
    return {match_id: float(value) for match_id, value in session.execute(query)}
