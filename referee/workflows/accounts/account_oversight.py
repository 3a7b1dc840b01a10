"""Suspend, restore and rename accounts, and give and take the role of an organiser, each with its act.

The operator on the command line acts without an account: ``by`` is then None.
"""

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.accounts import accounts, acts, organiser_requests
from referee.accounts.act_kinds import ActKind
from referee.accounts.oversight_tables import OrganiserRequest
from referee.accounts.roles import Role
from referee.accounts.tables import Account
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.kinds import SearchKind
from referee.db.search_documents import put_document
from referee.errors import BadOption, Conflict
from referee.workflows.bots import pausing

SUSPENDED: Final = "The account of its owner is suspended."


def suspend(session: Session, by: Account | None, account_id: str, reason: str, *, master_key: bytes) -> Account:
    """Refuse all requests of an account, and pause its bots.

    Raise ``Conflict`` for one's own account, that of an operator, or one that is suspended already.
    """
    account = _lock(session, account_id)
    if account.role == Role.ADMIN:
        raise Conflict("The account of an operator cannot be suspended. Take its role away first.")
    if account.suspended_at is not None:
        raise Conflict(f"Account {account.name!r} is suspended already.")
    account.suspended_at, account.suspension_reason = current_time(session), reason
    verified = select(Bot.id).where(Bot.owner_id == account_id, Bot.status == BotState.VERIFIED).order_by(Bot.id)
    paused = list(session.scalars(verified))
    for bot_id in paused:
        pausing.pause_bot(session, bot_id, SUSPENDED, master_key=master_key)
    acts.record_act(session, by, ActKind.ACCOUNT_SUSPENDED, account_id, reason=reason, paused_bots=paused)
    return account


def restore(session: Session, by: Account | None, account_id: str, reason: str) -> Account:
    """End the suspension of an account. Its bots stay paused until their owner resumes them."""
    account = _lock(session, account_id)
    if account.suspended_at is None:
        raise Conflict(f"Account {account.name!r} is not suspended.")
    account.suspended_at = account.suspension_reason = None
    acts.record_act(session, by, ActKind.ACCOUNT_RESTORED, account_id, reason=reason)
    return account


def rename(session: Session, by: Account | None, account_id: str, name: str, reason: str | None) -> Account:
    """Give an account another name. Operators give a ``reason``, owners none.

    Raise the same errors as ``accounts.rename_account``, and ``Conflict`` for a deleted account.
    """
    account = _lock(session, account_id)
    before = account.name
    if accounts.rename_account(session, account, name, by_operator=reason is not None):
        if session.scalar(select(Bot.id).where(Bot.owner_id == account_id).limit(1)) is not None:
            put_document(session, SearchKind.OWNER, account_id, account.name)
        names = {"name_before": before, "name_after": account.name}
        acts.record_act(session, by, ActKind.ACCOUNT_RENAMED, account_id, reason=reason, **names)
    return account


def set_role(session: Session, by: Account | None, account_id: str, role: str, reason: str | None) -> Account:
    """Make an account an organiser or an owner. Raise ``BadOption`` for another role.

    Raise ``Conflict`` for the account of an operator, whose role changes on the command line only.
    """
    if role not in (Role.OWNER, Role.ORGANISER):
        raise BadOption("role", "must be owner or organiser")
    if accounts.get_account(session, account_id).role == Role.ADMIN:
        raise Conflict("The role of an operator is changed on the command line only: `referee admin role`.")
    return change_role(session, by, account_id, Role(role), reason)


def change_role(session: Session, by: Account | None, account_id: str, role: Role, reason: str | None) -> Account:
    """Give an account any role. The role of an organiser answers its request."""
    account = _lock(session, account_id)
    before, account.role = account.role, role
    if role == Role.ORGANISER and (request := organiser_requests.find_request(session, account_id)) is not None:
        session.delete(request)
    acts.record_act(
        session, by, ActKind.ROLE_CHANGED, account_id, reason=reason, role_before=before, role_after=account.role
    )
    return account


def refuse_role(session: Session, by: Account, account_id: str, reason: str | None) -> OrganiserRequest:
    """Refuse the request of an account for the role of an organiser. Raise ``NotFound`` if there is none."""
    request = organiser_requests.get_request(session, account_id)
    request.refused_at, request.reason = current_time(session), reason
    acts.record_act(session, by, ActKind.ROLE_REFUSED, account_id, reason=reason)
    return request


def _lock(session: Session, account_id: str) -> Account:
    accounts.get_account(session, account_id)
    locked = select(Account).where(Account.id == account_id).with_for_update()
    account = session.scalars(locked.execution_options(populate_existing=True)).one()
    accounts.require_present(account)
    return account
