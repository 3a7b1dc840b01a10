"""Let several accounts run a tournament: the one that created it, and co-organisers."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.accounts.tables import Account
from referee.db.engine import current_time
from referee.errors import BadOption, Conflict, NotFound, QuotaExceeded
from referee.tournaments.states import UNFINISHED
from referee.tournaments.tables import Tournament, TournamentOrganiser
from referee.tournaments.tournaments import lock_in_state

MAX_CO_ORGANISERS: Final = 10


def list_organisers(session: Session, tournament: Tournament) -> Sequence[Account]:
    """Return the account that created the tournament, then its co-organisers in the order in which they were added."""
    query = select(Account).join(TournamentOrganiser, TournamentOrganiser.account_id == Account.id)
    query = query.where(TournamentOrganiser.tournament_id == tournament.id)
    added = session.scalars(query.order_by(TournamentOrganiser.added_at, Account.id)).all()
    return [accounts.get_account(session, tournament.created_by), *added]


def organiser_ids(session: Session, tournament: Tournament) -> set[str]:
    query = select(TournamentOrganiser.account_id).where(TournamentOrganiser.tournament_id == tournament.id)
    return {tournament.created_by, *session.scalars(query)}


def add_organiser(session: Session, tournament_id: str, name: str) -> Account:
    """Let the account with this name or id run the tournament, too.

    Raise ``BadOption`` for an unknown account, ``Conflict`` if it runs the tournament already, ``QuotaExceeded`` if
    there are too many.
    """
    tournament = lock_in_state(session, tournament_id, *UNFINISHED)
    try:
        account = accounts.find_by_id_or_name(session, name)
    except NotFound:
        raise BadOption("account", f"no account has the name or id {name!r}") from None
    if account.id in organiser_ids(session, tournament):
        raise Conflict(f"{account.name} runs this tournament already.")
    count = select(func.count()).where(TournamentOrganiser.tournament_id == tournament_id)
    if session.scalars(count).one() >= MAX_CO_ORGANISERS:
        raise QuotaExceeded(f"A tournament has at most {MAX_CO_ORGANISERS} co-organisers.")
    accounts.lock_present(session, account.id)
    moment = current_time(session)
    session.add(TournamentOrganiser(tournament_id=tournament_id, account_id=account.id, added_at=moment))
    tournament.revision += 1
    session.flush()
    return account


def remove_organiser(session: Session, tournament_id: str, account_id: str) -> None:
    """Take the tournament from a co-organiser. Raise ``NotFound`` if the account is none."""
    tournament = lock_in_state(session, tournament_id, *UNFINISHED)
    row = session.get(TournamentOrganiser, (tournament_id, account_id))
    if row is None:
        raise NotFound("co-organiser", account_id)
    session.delete(row)
    tournament.revision += 1
