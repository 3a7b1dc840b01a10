"""Let several accounts run a tournament: the one that created it, and co-organisers."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.tournaments.states import UNFINISHED
from referee.tournaments.tables import Tournament
from referee.tournaments.tournaments import CO_ORGANISERS, lock_in_state


def list_organisers(session: Session, tournament: Tournament) -> Sequence[Account]:
    """Return the account that created the tournament, then its co-organisers in the order in which they were added."""
    return CO_ORGANISERS.list(session, tournament)


def organiser_ids(session: Session, tournament: Tournament) -> set[str]:
    return CO_ORGANISERS.ids(session, tournament)


def add_organiser(session: Session, tournament_id: str, name: str) -> Account:
    """Let the account with this name or id run the tournament, too. Raise the errors of ``CoOrganisers.add``."""
    return CO_ORGANISERS.add(session, lock_in_state(session, tournament_id, *UNFINISHED), name)


def remove_organiser(session: Session, tournament_id: str, account_id: str) -> None:
    """Take the tournament from a co-organiser. Raise ``NotFound`` if the account is none."""
    CO_ORGANISERS.remove(session, lock_in_state(session, tournament_id, *UNFINISHED), account_id)
