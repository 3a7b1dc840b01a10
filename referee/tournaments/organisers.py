"""Let several accounts run a tournament: the one that created it, and co-organisers."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.tournaments.states import OVER, UNFINISHED, TournamentState
from referee.tournaments.tables import Tournament
from referee.tournaments.tournaments import CO_ORGANISERS, lock_in_state, withdraw_invitations


def list_organisers(session: Session, tournament: Tournament) -> Sequence[Account]:
    """Return the account that created the tournament or took it over, then its co-organisers, the earliest first."""
    return CO_ORGANISERS.list(session, tournament)


def organiser_ids(session: Session, tournament: Tournament) -> set[str]:
    return CO_ORGANISERS.ids(session, tournament)


def add_organiser(session: Session, tournament_id: str, account: Account) -> None:
    """Let an account that accepted an invitation run the tournament. Raise the errors of ``CoOrganisers.add``."""
    CO_ORGANISERS.add(session, lock_in_state(session, tournament_id, *UNFINISHED), account)


def remove_organiser(session: Session, tournament_id: str, account_id: str) -> None:
    """Take the tournament from an account that runs it. Raise ``NotFound`` if the account does not.

    The last organiser can only leave when the tournament is over: raise ``Conflict`` before that.
    """
    tournament = lock_in_state(session, tournament_id, *TournamentState)
    CO_ORGANISERS.remove(session, tournament, account_id, may_be_orphaned=tournament.status in OVER)
    withdraw_invitations(session, tournament_id, account_id)
