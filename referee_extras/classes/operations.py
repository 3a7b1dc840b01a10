"""Create the accounts of a class from a list of names, with a token each: all of them or, if a name is bad, none."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.accounts import accounts, acts
from referee.accounts.act_kinds import ActKind
from referee.accounts.reserved_names import reserved_names
from referee.accounts.roles import Role
from referee.accounts.scopes import Scope
from referee.accounts.tables import Account, Token
from referee.db import former_names
from referee.db.kinds import NamedKind
from referee.db.names import name_key, validate_name
from referee.errors import BadNames, BadOption, NameTaken, NotFound, QuotaExceeded

MAX_NAMES: Final = 200
TOKEN_NAME: Final = "class"  # noqa: S105  # a name, not a token


@dataclass(frozen=True, slots=True)
class Member:
    """Hold an account of the class, whether it is new, and its new token with the text, if it got one."""

    account: Account
    is_new: bool
    token: tuple[Token, str] | None


def create_class(
    session: Session,
    by: Account | None,
    names: Sequence[str],
    *,
    new_tokens: bool = False,
    lifetime: timedelta | None = None,
) -> list[Member]:
    """Create an account for each name that has none, with a token that may play but not change the account.

    ``by`` may enter the bots of new accounts without asking. Accounts that exist are returned without a token or, with
    ``new_tokens``, with another one that replaces those of earlier calls. Raise ``BadNames`` with all bad names, and
    create nothing.
    """
    known = _check_names(session, names)
    members = []
    for index, name in enumerate(names):
        if index not in known:
            members.append(_create(session, by, index, name, lifetime))
        elif new_tokens:
            members.append(_renew(session, by, index, known[index], lifetime))
        else:
            members.append(Member(known[index], is_new=False, token=None))
    return members


def _check_names(session: Session, names: Sequence[str]) -> dict[int, Account]:
    """Return the accounts that exist, by the place of their names. Raise ``BadNames`` if a name cannot be used."""
    known: dict[int, Account] = {}
    problems: list[tuple[int, str]] = []
    places: dict[str, int] = {}  # by the key of the name
    for index, text in enumerate(names):
        try:
            name = validate_name(text)
        except BadOption as error:
            problems.append((index, error.reason))
            continue
        key = name_key(name)
        if key in places:
            problems.append((index, f"is the same as {names[places[key]]!r} or looks the same; write each name once"))
            continue
        places[key] = index
        try:
            account = _find(session, name)
        except (BadOption, NameTaken) as error:
            problems.append((index, error.reason if isinstance(error, BadOption) else str(error)))
            continue
        if account is not None:
            known[index] = account
    if problems:
        raise BadNames(problems)
    return known


def _find(session: Session, name: str) -> Account | None:
    """Return the account of a student, or None if there is none.

    Raise ``BadOption`` if it is of another person, ``NameTaken`` if another account had the name until recently.
    """
    if name_key(name) in reserved_names():
        raise BadOption("name", "is reserved; choose another name")
    try:
        account = accounts.find_account(session, name)
    except NotFound:
        former_names.check_not_held(session, NamedKind.ACCOUNT, name, None)
        return None
    if account.name != name:
        raise BadOption("name", f"looks the same as the account {account.name!r}; write that name or choose another")
    if account.role != Role.OWNER:
        raise BadOption("name", f"is an account with the role {account.role}; choose another name")
    if account.suspended_at is not None:
        raise BadOption("name", "is a suspended account; restore it or choose another name")
    return account


def _create(session: Session, by: Account | None, index: int, name: str, lifetime: timedelta | None) -> Member:
    try:
        account = accounts.create_account(session, name)
    except NameTaken as error:
        raise BadNames([(index, str(error))]) from error
    account.class_of = None if by is None else by.id
    token = accounts.create_token(session, account.id, TOKEN_NAME, scopes=[Scope.PLAY], lifetime=lifetime)
    acts.record_act(session, by, ActKind.ACCOUNT_CREATED, account.id, name=account.name)
    return Member(account, is_new=True, token=token)


def _renew(session: Session, by: Account | None, index: int, account: Account, lifetime: timedelta | None) -> Member:
    earlier = select(Token.id).where(
        Token.account_id == account.id, Token.name == TOKEN_NAME, Token.revoked_at.is_(None)
    )
    for token_id in session.scalars(earlier).all():
        accounts.revoke_token(session, account.id, token_id)
    try:
        token = accounts.create_token(session, account.id, TOKEN_NAME, scopes=[Scope.PLAY], lifetime=lifetime)
    except QuotaExceeded as error:
        raise BadNames([(index, str(error))]) from error
    acts.record_act(session, by, ActKind.TOKEN_CREATED, account.id, name=TOKEN_NAME)
    return Member(account, is_new=False, token=token)
