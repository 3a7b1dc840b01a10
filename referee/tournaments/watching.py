"""Read the data that streams of tournaments send: states, and matches that ended since a position."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.matches.states import MatchState
from referee.matches.tables import Result, StoredMatch
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament

PAGE_SIZE: Final = 200
_OF_MATCH: Final = ("tournament_id", "id", "tournament_round", "table_no", "leg", "status", "reason")


@dataclass(frozen=True, slots=True)
class EndedMatch:
    """Describe a match with a result. Its bots are public. ``seq`` numbers matches in the order in which they end."""

    seq: int
    tournament_id: str
    match_id: str
    tournament_round: int | None
    table: int | None
    leg: int | None
    status: MatchState  # finished, or voided since
    reason: str | None
    entrants: list[str]
    bots: list[str]
    placements: list[int]
    returns: list[int]
    finished_at: datetime


def last_seq(session: Session) -> int:
    """Return the ``seq`` of the last result of all matches, or 0 before the first."""
    return session.scalar(select(func.max(Result.seq))) or 0


def last_counting_seq(session: Session, tournament_id: str) -> int:
    """Return the ``seq`` of the last result of this tournament that counts, or 0 if there is none."""
    query = select(func.max(Result.seq)).join(StoredMatch, StoredMatch.id == Result.match_id)
    query = query.where(StoredMatch.tournament_id == tournament_id, StoredMatch.status == MatchState.FINISHED)
    return session.scalar(query) or 0


def load_states(session: Session, tournament_ids: Collection[str]) -> dict[str, tuple[TournamentState, str | None]]:
    """Return the status and its reason (or None) for each of these tournaments, keyed by tournament id."""
    query = select(Tournament.id, Tournament.status, Tournament.status_reason).where(Tournament.id.in_(tournament_ids))
    return {id: (status, reason) for id, status, reason in session.execute(query)}


def list_newest_ended(session: Session, tournament_id: str, *, limit: int) -> list[StoredMatch]:
    """Return up to ``limit`` matches of this tournament that have results, the most recently ended first."""
    query = select(StoredMatch).join(Result, Result.match_id == StoredMatch.id)
    query = query.where(StoredMatch.tournament_id == tournament_id)
    return list(session.scalars(query.order_by(Result.seq.desc()).limit(limit)))


def list_ended(
    session: Session, tournament_ids: Collection[str], *, after: int, until: int, limit: int = PAGE_SIZE
) -> list[EndedMatch]:
    """Return up to ``limit`` matches of these tournaments with ``after`` < ``seq`` <= ``until``, ordered by ``seq``."""
    # The concatenation keeps the database from using the column's index: tournaments have many matches but few new
    # results.
    watched = StoredMatch.tournament_id.concat("").in_(tournament_ids)
    of_match = [getattr(StoredMatch, name) for name in _OF_MATCH]
    of_result = Result.entrants, Result.bots, Result.placements, Result.returns, Result.finished_at
    query = select(Result.seq, *of_match, *of_result).join(StoredMatch, StoredMatch.id == Result.match_id)
    query = query.where(watched, Result.seq > after, Result.seq <= until)
    return [EndedMatch(*row) for row in session.execute(query.order_by(Result.seq).limit(limit))]
