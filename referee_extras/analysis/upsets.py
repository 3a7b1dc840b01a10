"""Read what made the result of a tournament: its biggest upset by ratings, and matches by their numbers."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from referee.ladders.kinds import EntryKind
from referee.ladders.tables import LedgerEntry, RatingChange
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.tournaments.tables import TournamentEntry


@dataclass(frozen=True, slots=True)
class RatingUpset:
    """Describe an upset by the ids of its match and of the bots, with their ratings before it in micro-points."""

    match_id: str
    winner: str
    loser: str
    winner_rating: int
    loser_rating: int


def find_rating_upset(session: Session, tournament_id: str) -> RatingUpset | None:
    """Return the biggest upset of a tournament by the ratings before the match, or None if there was none.

    An upset is a rated match that counts and in which a bot took the first place, alone or shared, ahead of a bot with
    a higher rating before the match. The biggest one has the largest difference of these ratings; among equals, it is
    the earliest. Seats that do not count, such as those of substitutes, and house players with a constant rating are
    ignored.
    """
    winner, loser = aliased(MatchSeat), aliased(MatchSeat)
    own, other = aliased(RatingChange), aliased(RatingChange)
    query = select(Result.match_id, winner.bot_id, loser.bot_id, own.before, other.before)
    query = query.select_from(StoredMatch).join(Result, Result.match_id == StoredMatch.id)
    query = query.join(LedgerEntry, (LedgerEntry.match_id == StoredMatch.id) & (LedgerEntry.kind == EntryKind.RESULT))
    query = query.join(
        winner, (winner.match_id == StoredMatch.id) & (winner.placement == 1) & winner.entrant_id.is_(None)
    )
    query = query.join(loser, (loser.match_id == StoredMatch.id) & (loser.placement > 1) & loser.entrant_id.is_(None))
    query = query.join(own, (own.seq == LedgerEntry.seq) & (own.bot_id == winner.bot_id))
    query = query.join(other, (other.seq == LedgerEntry.seq) & (other.bot_id == loser.bot_id))
    query = query.where(
        StoredMatch.tournament_id == tournament_id,
        StoredMatch.status == MatchState.FINISHED,
        other.before > own.before,
    )
    order = (other.before - own.before).desc(), Result.seq, winner.seat, loser.seat
    found = session.execute(query.order_by(*order).limit(1)).first()
    return None if found is None else RatingUpset(*found)


def find_match(session: Session, seq: int) -> StoredMatch:
    """Return the match whose result has this number."""
    return session.scalars(
        select(StoredMatch).join(Result, Result.match_id == StoredMatch.id).where(Result.seq == seq)
    ).one()


def load_seeds(session: Session, tournament_id: str) -> Mapping[Hashable, int]:
    """Return the seeds that the organiser gave, keyed by bot id."""
    query = select(TournamentEntry.bot_id, TournamentEntry.seed)
    query = query.where(TournamentEntry.tournament_id == tournament_id, TournamentEntry.seed.is_not(None))
    return {bot_id: seed for bot_id, seed in session.execute(query) if seed is not None}
