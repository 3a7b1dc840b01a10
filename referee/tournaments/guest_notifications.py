"""Tell the guests of a tournament that it is open for their bots."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.tournaments.organisers import organiser_ids
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament, TournamentGuest
from referee.webhooks import inbox, outbox
from referee.webhooks.states import NotificationType

INVITED: Final = NotificationType.TOURNAMENT_INVITED.value
MAX_PER_DAY: Final = 20  # of an account, so that nobody can fill its inbox with them


def notify_all(session: Session, tournament: Tournament) -> int:
    """Notify all guests of a tournament, as ``notify`` does."""
    guests = select(TournamentGuest.account_id).where(TournamentGuest.tournament_id == tournament.id)
    return notify(session, tournament, session.scalars(guests))


def notify(session: Session, tournament: Tournament, account_ids: Iterable[str]) -> int:
    """Notify these accounts that they are guests, if the tournament is open. Return how many were notified.

    Leave out organisers of the tournament, and accounts that were invited to it in the last day or got
    ``MAX_PER_DAY`` invitations in that time.
    """
    if tournament.status != TournamentState.OPEN:
        return 0
    candidates = sorted({*account_ids} - organiser_ids(session, tournament))
    recent = inbox.list_recent(session, INVITED, candidates, timedelta(days=1))
    counts = Counter(account_id for account_id, _ in recent)
    again = {account_id for account_id, payload in recent if payload.get("tournament") == tournament.id}
    invited = [account_id for account_id in candidates if account_id not in again and counts[account_id] < MAX_PER_DAY]
    payload = {"tournament": tournament.id, "name": tournament.name, "game": tournament.game}
    outbox.emit(session, INVITED, invited, payload)
    return len(invited)
