"""Report tournaments that are blocked: by stuck matches, or because the package of their game is not installed.

A tournament must not be decided without the matches that the service failed to play. Therefore the round waits until
the organiser voids each of them (with or without a rematch) or cancels it, or until the operator retries it.
"""

from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.db.reporting import notify
from referee.events import TournamentHeldUp
from referee.games import catalogue
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, StoredMatch
from referee.tournaments.tables import Tournament
from referee.tournaments.tournaments import CO_ORGANISERS

MAX_NAMED: Final = 3  # stuck matches that the reason lists by id
REMEDIES: Final = "Void each, with or without a rematch, or cancel it, or ask the operator to retry it."


def blocking_reason(session: Session, tournament: Tournament) -> str | None:
    """Return the ``status_reason`` of a tournament that is blocked, or None if nothing blocks it."""
    if tournament.game not in catalogue():
        return (
            f"Held up: the game {tournament.game} is not installed on this service. The operator installs its package."
        )
    is_stuck = StoredMatch.tournament_id == tournament.id, StoredMatch.status == MatchState.STUCK
    named = list(session.scalars(select(StoredMatch.id).where(*is_stuck).order_by(StoredMatch.id).limit(MAX_NAMED + 1)))
    if not named:
        return None
    count = session.scalars(select(func.count()).where(*is_stuck)).one() if len(named) > MAX_NAMED else len(named)
    matches = ", ".join(named[:MAX_NAMED]) + (f" and {count - MAX_NAMED} more" if count > MAX_NAMED else "")
    return f"Held up by stuck matches: {matches}. {REMEDIES}"


def update_blocking_reason(session: Session, tournament: Tournament) -> None:
    """Update the ``status_reason`` of the tournament.

    If the tournament is blocked, notify its organiser and the owners of bots in stuck
    matches.
    """
    before, now = tournament.status_reason, blocking_reason(session, tournament)
    if before == now:
        return
    tournament.status_reason = now
    tournament.revision += 1
    if now is not None:
        owners = select(Bot.owner_id).join(MatchSeat, MatchSeat.bot_id == Bot.id)
        owners = owners.join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
        owners = owners.where(StoredMatch.tournament_id == tournament.id, StoredMatch.status == MatchState.STUCK)
        concerned = CO_ORGANISERS.ids(session, tournament) | {*session.scalars(owners)}
        about = {"tournament": tournament.id, "name": tournament.name, "reason": now}
        notify(session, TournamentHeldUp(accounts=concerned, **about))
