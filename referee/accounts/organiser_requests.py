"""Ask for the role of an organiser, and list who asked."""

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.accounts.oversight_tables import OrganiserRequest
from referee.accounts.roles import Role
from referee.accounts.tables import Account
from referee.db.engine import current_time
from referee.db.texts import validate_line
from referee.errors import Conflict, NotFound

MAX_TEXT_LENGTH: Final = 500


def ask(session: Session, account: Account, text: str) -> OrganiserRequest:
    """Ask for the role, or change an open request. Raise ``Conflict`` for an organiser and after a refusal."""
    if account.role != Role.OWNER:
        raise Conflict(f"Your account has the role {account.role} already.")
    accounts.lock_present(session, account.id)
    request = session.get(OrganiserRequest, account.id)
    if request is not None and request.refused_at is not None:
        raise Conflict(f"The operator refused your request: {request.reason or 'no reason was given'}.")
    text = validate_line("text", text, MAX_TEXT_LENGTH)
    if request is None:
        request = OrganiserRequest(account_id=account.id, text=text, created_at=current_time(session))
        session.add(request)
    request.text = text
    session.flush()
    return request


def find_request(session: Session, account_id: str) -> OrganiserRequest | None:
    return session.get(OrganiserRequest, account_id)


def get_request(session: Session, account_id: str) -> OrganiserRequest:
    """Return the open request of this account. Raise ``NotFound`` if there is none."""
    request = session.get(OrganiserRequest, account_id, with_for_update=True)
    if request is None or request.refused_at is not None:
        raise NotFound("request", account_id)
    return request


def list_open(session: Session, *, limit: int = 100) -> list[tuple[OrganiserRequest, Account]]:
    """Return the oldest open requests."""
    query = select(OrganiserRequest, Account).join(Account, Account.id == OrganiserRequest.account_id)
    query = query.where(OrganiserRequest.refused_at.is_(None))
    ordered = query.order_by(OrganiserRequest.created_at, OrganiserRequest.account_id)
    return [(request, account) for request, account in session.execute(ordered.limit(limit))]
