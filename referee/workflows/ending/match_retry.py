"""Retry a stuck match, as far as the state of its tournament allows."""

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.db.engine import count_changed_rows
from referee.db.leases import revocation_values
from referee.errors import Conflict
from referee.matches import matches
from referee.matches.queue import queued_seats
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from referee.tournaments.states import IN_PROGRESS, TournamentState
from referee.tournaments.tables import Tournament


def retry_match(session: Session, match_id: str) -> StoredMatch:
    """Make a stuck match due again, as if it had never lost a claim; it continues from its recorded rows.

    Operators call this after they have fixed what crashed its runners. In a paused tournament the match waits. Raise
    ``NotFound`` if there is no such match, and ``Conflict`` if it is not stuck or its tournament has ended.
    """
    match = matches.get_match(session, match_id)
    query = select(Tournament).where(Tournament.id == match.tournament_id).with_for_update()
    tournament = session.scalar(query.execution_options(populate_existing=True))
    if tournament is not None and tournament.status not in IN_PROGRESS:
        raise Conflict(f"The tournament is {tournament.status}; its stuck match can only be voided or cancelled.")
    is_paused = tournament is not None and tournament.status == TournamentState.PAUSED
    status = MatchState.WAITING if is_paused else MatchState.DUE
    fresh = {"status": status, "reason": None, "lost_claims": 0, "claims_without_progress": 0}
    revived = update(StoredMatch).where(StoredMatch.id == match_id, StoredMatch.status == MatchState.STUCK)
    if count_changed_rows(session, revived.values(fresh | revocation_values(StoredMatch))) == 0:
        raise Conflict(f"The match is {match.status}, not stuck.")
    queued_seats.refresh_queue(session, [match_id])
    return session.get_one(StoredMatch, match_id, populate_existing=True)
