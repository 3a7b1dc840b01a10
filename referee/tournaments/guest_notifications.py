"""Report to the guests of a tournament that it is open for their bots."""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.db.reporting import notify
from referee.events import GuestsInvited
from referee.tournaments.organisers import organiser_ids
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament, TournamentGuest


def notify_all(session: Session, tournament: Tournament) -> None:
    """Report to all guests of a tournament, as ``notify_guests`` does."""
    guests = select(TournamentGuest.account_id).where(TournamentGuest.tournament_id == tournament.id)
    notify_guests(session, tournament, session.scalars(guests))


def notify_guests(session: Session, tournament: Tournament, account_ids: Iterable[str]) -> None:
    """Report to these accounts that they are guests, if the tournament is open. Leave out its organisers."""
    if tournament.status == TournamentState.OPEN:
        invited = sorted({*account_ids} - organiser_ids(session, tournament))
        about = {"tournament": tournament.id, "name": tournament.name, "game": tournament.game}
        notify(session, GuestsInvited(accounts=invited, **about))
