"""Retry a stuck match, in agreement with the state of its tournament."""

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.db.engine import count_changed_rows
from referee.db.leases import revocation_values
from referee.errors import Conflict
from referee.matches import matches
from referee.matches.states import MatchState
from referee.matches.tables import Match
from referee.tournaments.states import IN_PROGRESS, TournamentState
from referee.tournaments.tables import Tournament


def retry_match(session: Session, match_id: str) -> Match:
    """Makes a stuck match due again, as if it had never lost a claim; what is recorded of it stays. For the operator,
    once he has found what cost its runners their lives; in a paused event it waits. Raises ``NotFound``, and
    ``Conflict`` unless it is stuck and its event goes on."""
    match = matches.get_match(session, match_id)
    event = select(Tournament).where(Tournament.id == match.tournament_id).with_for_update()
    tournament = session.scalar(event.execution_options(populate_existing=True))
    if tournament is not None and tournament.status not in IN_PROGRESS:
        raise Conflict(f"the event is {tournament.status}; its stuck match can become void, or be cancelled")
    is_paused = tournament is not None and tournament.status == TournamentState.PAUSED
    status = MatchState.WAITING if is_paused else MatchState.DUE
    fresh = {"status": status, "reason": None, "lost_claims": 0, "claims_without_progress": 0}
    revived = update(Match).where(Match.id == match_id, Match.status == MatchState.STUCK).values(fresh)
    if count_changed_rows(session, revived.values(revocation_values(Match))) == 0:
        raise Conflict(f"the match is {match.status}, not stuck")
    return session.get_one(Match, match_id, populate_existing=True)
