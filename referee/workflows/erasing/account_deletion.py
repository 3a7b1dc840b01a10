"""Delete accounts with their bots, and everything that says who the owner is.

The row of the account stays under a neutral name, because results and acts refer to it. ``erasure`` deletes the bots.
"""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from referee.accounts import accounts, acts
from referee.accounts.act_kinds import ActKind
from referee.accounts.oversight_tables import OrganiserRequest
from referee.accounts.reserved_names import DELETED_ACCOUNT, neutral_name
from referee.accounts.roles import Role
from referee.accounts.tables import Account, Token
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db import former_names
from referee.db.engine import current_time, take_advisory_lock
from referee.db.kinds import NamedKind, SearchKind
from referee.db.names import name_key, spare_key
from referee.db.reporting import notify
from referee.errors import Conflict
from referee.events import AccountDeleted, AccountErased, TournamentErased
from referee.friendlies import requests
from referee.friendlies.states import RequestState
from referee.friendlies.tables import ChallengerEntry, FriendlyRequest, RequestedOwner
from referee.ladders.tables import MonthRow
from referee.tournaments import lifecycle, tournaments
from referee.tournaments.states import UNFINISHED, TournamentState
from referee.tournaments.tables import Invitation, Tournament, TournamentEntry, TournamentGuest
from referee.workflows.erasing import act_names, erasure, stored_responses
from referee.workflows.voids import tournament_cancellation

_NAMED: Final = 5  # tournaments that an error names
_LEFT: Final = "Its organiser deleted their account, and nobody else runs it."
_ENDED_TOURNAMENT: Final = "ended tournament"


def delete_account(
    session: Session,
    by: Account | None,
    account_id: str,
    *,
    reason: str | None = None,
    ends_tournaments: bool = False,
    master_key: bytes,
) -> Account:
    """Delete an account with all of its bots. ``by`` is its owner or, with a ``reason``, an operator.

    Raise ``Conflict`` if the account is deleted already, that of the house players, or that of the last operator or of
    another operator. Raise it also if the account alone runs a tournament that is not over, in which bots of others are
    entered, unless the deletion ``ends_tournaments``.
    """
    take_advisory_lock(session, "account names")
    accounts.lock_present(session, account_id)
    account = session.get_one(Account, account_id, populate_existing=True)
    _check_may_be_deleted(session, by, account)
    erasure.overwrite_deleted_rows(session)
    _hand_over_tournaments(session, account, ends_tournaments, master_key)
    notify(session, AccountDeleted(account=account.id))
    owned = select(Bot.id).where(Bot.owner_id == account_id, Bot.deleted_at.is_(None)).order_by(Bot.id)
    for bot_id in session.scalars(owned).all():
        erasure.delete_bot(session, bot_id, master_key=master_key)
    _leave_friendlies(session, account_id)
    _delete_rows(session, account_id)
    _make_nameless(session, account)
    actor = account if by is not None and by.id == account_id else by  # with its neutral name
    acts.record_act(session, actor, ActKind.ACCOUNT_DELETED, account_id, reason=reason)
    return account


def _check_may_be_deleted(session: Session, by: Account | None, account: Account) -> None:
    if session.scalar(select(Bot.id).where(Bot.owner_id == account.id, Bot.status == BotState.HOUSE).limit(1)):
        raise Conflict("The account of the house players cannot be deleted.")
    if account.role != Role.ADMIN:
        return
    if by is not None and by.id != account.id:
        raise Conflict("The account of an operator cannot be deleted. Take its role away first.")
    operators = select(Account.id).where(Account.role == Role.ADMIN, Account.deleted_at.is_(None))
    if list(session.scalars(operators.order_by(Account.id).with_for_update())) == [account.id]:
        raise Conflict("This is the last operator's account. Give the role to another account first.")


def _hand_over_tournaments(session: Session, account: Account, ends_tournaments: bool, master_key: bytes) -> None:
    """Give unfinished tournaments to their first co-organiser, end the others, and leave the tournaments of others."""
    alone: list[Tournament] = []
    run = select(Tournament).where(Tournament.created_by == account.id, Tournament.status.in_(UNFINISHED))
    for tournament in session.scalars(run.order_by(Tournament.id).with_for_update()).all():
        if tournaments.CO_ORGANISERS.hand_over(session, tournament):
            tournament.contact = tournament.link = None
        else:
            alone.append(tournament)
    if not ends_tournaments:
        _require_none([tournament for tournament in alone if _has_bots_of_others(session, tournament, account)])
    for tournament in alone:
        if tournament.status == TournamentState.DRAFT:
            lifecycle.delete_draft(session, tournament.id)
        else:
            _end_tournament(session, tournament, master_key)
    tournaments.CO_ORGANISERS.leave_all(session, account.id)
    without = {"contact": None, "link": None, "revision": Tournament.revision + 1}
    session.execute(update(Tournament).where(Tournament.created_by == account.id).values(without))


def _end_tournament(session: Session, tournament: Tournament, master_key: bytes) -> None:
    """Cancel a tournament that nobody runs any longer, and erase its texts."""
    tournament_cancellation.cancel_tournament(session, tournament.id, master_key=master_key, reason=_LEFT)
    tournament.name = neutral_name(_ENDED_TOURNAMENT, tournament.id)
    tournament.description = tournament.prizes = None
    erasure.remove_document(session, SearchKind.TOURNAMENT, tournament.id)
    notify(session, TournamentErased(tournament=tournament.id, name=tournament.name))


def _has_bots_of_others(session: Session, tournament: Tournament, account: Account) -> bool:
    entered = select(Bot.id).join(TournamentEntry, TournamentEntry.bot_id == Bot.id)
    entered = entered.where(TournamentEntry.tournament_id == tournament.id, TournamentEntry.withdrawn_at.is_(None))
    return session.scalar(entered.where(Bot.owner_id != account.id).limit(1)) is not None


def _require_none(alone: Sequence[Tournament]) -> None:
    if alone:
        named = ", ".join(f"{tournament.name} ({tournament.id})" for tournament in alone[:_NAMED])
        more = f" and {len(alone) - _NAMED} more" if len(alone) > _NAMED else ""
        raise Conflict(
            f"The account alone runs tournaments that are not over, with bots of others: {named}{more}. Invite another "
            "organiser to each of them and wait until they accept, or agree that they are cancelled and their texts "
            "erased (end_tournaments)."
        )


def _leave_friendlies(session: Session, account_id: str) -> None:
    """Decline what waits for the account, and delete what it asked for and which accounts it listed."""
    asked = select(RequestedOwner.request_id).where(RequestedOwner.owner_id == account_id)
    pending = select(FriendlyRequest.id).where(
        FriendlyRequest.id.in_(asked),
        FriendlyRequest.state == RequestState.PENDING,
        FriendlyRequest.expires_at > current_time(session),
    )
    for request_id in session.scalars(pending.order_by(FriendlyRequest.id)).all():
        requests.decline(session, request_id, account_id)
    session.execute(update(FriendlyRequest).where(FriendlyRequest.id.in_(asked)).values(reason=None))
    own = select(FriendlyRequest.id).where(FriendlyRequest.created_by == account_id)
    session.execute(delete(RequestedOwner).where(RequestedOwner.request_id.in_(own)))
    session.execute(delete(FriendlyRequest).where(FriendlyRequest.created_by == account_id))
    listed = or_(ChallengerEntry.owner_id == account_id, ChallengerEntry.account_id == account_id)
    session.execute(delete(ChallengerEntry).where(listed))


def _delete_rows(session: Session, account_id: str) -> None:
    for table in (Token, OrganiserRequest, TournamentGuest):
        session.execute(delete(table).where(table.account_id == account_id))
    session.execute(delete(Invitation).where(Invitation.account_id == account_id))
    tournaments.hide_invitations(session, Invitation.invited_by == account_id)
    stored_responses.forget_account(session, account_id)


def _make_nameless(session: Session, account: Account) -> None:
    """Give the account a neutral name, here and wherever its name was copied. Nobody may take the former one soon."""
    before, account.name = account.name, neutral_name(DELETED_ACCOUNT, account.id)
    account.normalized_name = spare_key(name_key(account.name), account.id)
    account.deleted_at, account.role, account.class_of = current_time(session), Role.OWNER, None
    account.suspended_at = account.suspension_reason = None
    account.recovery_sha256 = account.recovery_token_id = None
    account.recovery_code_created_at = account.recovered_at = None
    session.flush()
    former_names.hide_names(session, account.id)
    former_names.give_up_name(session, NamedKind.ACCOUNT, account.id, before, None, is_shown=False)
    erasure.remove_document(session, SearchKind.OWNER, account.id)
    month_rows = update(MonthRow).where(MonthRow.owner_id == account.id)
    session.execute(month_rows.values(owner_name=account.name))
    act_names.replace_account_name(session, account.id, account.name)
    notify(session, AccountErased(account=account.id, name=account.name))
