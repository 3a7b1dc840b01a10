"""Create and find accounts, and manage their API tokens."""

import hashlib
import secrets
import zlib
from collections.abc import Collection, Iterable
from datetime import timedelta
from typing import Final

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from referee.accounts.reserved_names import claim_key
from referee.accounts.roles import Role
from referee.accounts.scopes import Scope, normalize_scopes
from referee.accounts.tables import Account, Token
from referee.db import former_names
from referee.db.engine import current_time, take_advisory_lock
from referee.db.ids import new_id
from referee.db.kinds import NamedKind
from referee.db.lookup import load_by_id
from referee.db.names import name_key, validate_name
from referee.db.paging import Cursor, Page, load_page
from referee.errors import BadOption, Conflict, NotFound, QuotaExceeded

TOKEN_PREFIX: Final = "ref_"  # noqa: S105  # the beginning of all tokens
TOKENS_PER_ACCOUNT: Final = 20
LAST_USE_PRECISION: Final = timedelta(hours=1)
MAX_LIFETIME_DAYS: Final = 730
DEVICE_LIFETIME: Final = timedelta(days=30)  # at most, of a token that keeps a browser signed in
DEVICE_SCOPES: Final = (Scope.PLAY, Scope.ORGANISE)

_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_DIGITS: Final = 43  # 62^43 > 256^32
_CHECK_DIGITS: Final = 6


def create_account(session: Session, name: str, role: str = Role.OWNER) -> Account:
    """Create an account.

    Raise ``BadOption`` for a bad name or role, ``NameTaken`` if another name looks the same, or did until recently.
    """
    if role not in [*Role]:
        raise BadOption("role", f"must be one of {', '.join(Role)}")
    name, key = _reserve_name(session, name)
    account = Account(id=new_id("account"), name=name, normalized_name=key, role=role, created_at=current_time(session))
    session.add(account)
    session.flush()
    return account


def rename_account(session: Session, account: Account, name: str, *, by_operator: bool = False) -> bool:
    """Give the account another name. Return whether it had another one before.

    Nobody else may take the former name for some time. A name that an operator has changed is not shown any longer, and
    its owner may not take it again either. Raise ``BadOption`` for a bad name, ``NameTaken`` if another looks the same,
    or did until recently, and ``QuotaExceeded`` if the owner has changed it too often.
    """
    before = account.name
    if validate_name(name) == before:
        return False
    if not by_operator:
        former_names.check_changes(session, NamedKind.ACCOUNT, account.id)
    account.name, account.normalized_name = _reserve_name(session, name, own_id=account.id)
    holder_id = None if by_operator else account.id
    former_names.give_up_name(session, NamedKind.ACCOUNT, account.id, before, holder_id, is_shown=not by_operator)
    return True


def _reserve_name(session: Session, name: str, own_id: str | None = None) -> tuple[str, str]:
    """Return the name in canonical form and its key, which no account but ``own_id`` has."""
    name = validate_name(name)
    take_advisory_lock(session, "account names")
    others = None if own_id is None else Account.id != own_id
    column = Account.normalized_name
    return name, claim_key(session, NamedKind.ACCOUNT, column, name, owner_id=own_id, others=others)


def list_accounts(
    session: Session, *, name: str | None = None, limit: int = 50, cursor: Cursor | None = None
) -> Page[Account]:
    """Return a page of accounts, the newest first; with ``name``, those whose names contain it in any case."""
    query = select(Account)
    if name is not None:
        query = query.where(func.lower(Account.name).contains(name.lower(), autoescape=True))
    return load_page(session, query, Account.created_at.desc(), Account.id.desc(), limit=limit, cursor=cursor)


def get_account(session: Session, account_id: str) -> Account:
    """Return the account with this id. Raise ``NotFound`` if there is none."""
    account = session.get(Account, account_id)
    if account is None:
        raise NotFound("account", account_id)
    return account


def require_present(account: Account) -> None:
    """Raise ``Conflict`` if the account is deleted."""
    if account.deleted_at is not None:
        raise Conflict(f"The {account.name} cannot be changed any more.")


def lock_present(session: Session, *account_ids: str) -> None:
    """Lock accounts before they get something, so that none is deleted before the transaction ends.

    Raise ``NotFound`` if there is no such account, and ``Conflict`` if one is deleted.
    """
    ids = sorted(set(account_ids))
    locked = select(Account.id, Account.name, Account.deleted_at).where(Account.id.in_(ids)).order_by(Account.id)
    found = {row.id: row for row in session.execute(locked.with_for_update(key_share=True))}
    for account_id in ids:
        if account_id not in found:
            raise NotFound("account", account_id)
        if found[account_id].deleted_at is not None:
            raise Conflict(f"The {found[account_id].name} can no longer do or receive anything.")


def find_account(session: Session, name: str, *, lock: bool = False) -> Account:
    """Return the account with this name or, failing that, one that looks the same. Raise ``NotFound`` if none does.

    With ``lock``, the account does not change before the transaction ends.
    """
    same = Account.name == name
    alike = select(Account).where(or_(same, Account.normalized_name == name_key(name)), Account.deleted_at.is_(None))
    query = alike.order_by(same.desc()).limit(1)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    account = session.scalar(query)
    if account is None:
        raise NotFound("account", name)
    return account


def find_by_id_or_name(session: Session, text: str, *, lock: bool = False) -> Account:
    """Return the account with this id or name. Raise ``NotFound`` if there is none, or if it is deleted.

    With ``lock``, the account does not change before the transaction ends.
    """
    account = session.get(Account, text, with_for_update=lock or None, populate_existing=lock)
    return account if account is not None and account.deleted_at is None else find_account(session, text, lock=lock)


def names_of(session: Session, account_ids: Iterable[str]) -> dict[str, str]:
    """Return the names of these accounts, keyed by account id."""
    return load_by_id(session, Account.id, Account.name, account_ids)


def create_token(
    session: Session,
    account_id: str,
    name: str,
    *,
    scopes: Collection[str] = (Scope.ALL,),
    lifetime: timedelta | None = None,
    parent_id: str | None = None,
) -> tuple[Token, str]:
    """Create a token. Return it with its text, which is not stored, so the caller must show it now.

    Without a ``lifetime`` the token never expires. It ends with the token ``parent_id``, if given. Raise ``NotFound``
    if there is no such account, ``Conflict`` if it is deleted, ``QuotaExceeded`` if it has too many tokens, and
    ``BadOption`` for a bad name or scope.
    """
    scopes = normalize_scopes(scopes)
    lock_present(session, account_id)
    moment = current_time(session)
    unexpired = or_(Token.expires_at.is_(None), Token.expires_at > moment)
    working = select(func.count()).where(Token.account_id == account_id, Token.revoked_at.is_(None), unexpired)
    if session.scalars(working).one() >= TOKENS_PER_ACCOUNT:
        raise QuotaExceeded(f"An account can have at most {TOKENS_PER_ACCOUNT} tokens. Revoke one first.")
    text = new_secret_text(TOKEN_PREFIX)
    token = Token(
        id=new_id("token"),
        account_id=account_id,
        name=validate_name(name),
        sha256=digest_secret(text),
        hint=f"{text[:8]}…{text[-4:]}",
        scopes=scopes,
        created_at=moment,
        expires_at=None if lifetime is None else moment + lifetime,
        parent_id=parent_id,
    )
    session.add(token)
    session.flush()
    return token, text


def create_device_token(session: Session, parent: Token, name: str) -> tuple[Token, str]:
    """Create a token that keeps a browser signed in, and which ends with ``parent``. Return it with its text.

    The scope ``all`` is not among its scopes, so it makes nothing that outlasts it unseen. Raise as ``create_token``.
    """
    token, text = create_token(
        session, parent.account_id, name, scopes=DEVICE_SCOPES, lifetime=DEVICE_LIFETIME, parent_id=parent.id
    )
    token.expires_at = min(filter(None, (token.expires_at, parent.expires_at)))
    session.flush()
    return token, text


def find_token(session: Session, token_text: str) -> tuple[Token, Account] | None:
    """Return the token with this text, even if it has expired, and its account. Return None if none is valid."""
    found = select(Token, Account).join(Account, Account.id == Token.account_id)
    found = found.where(Token.sha256 == digest_secret(token_text), Token.revoked_at.is_(None))
    return session.execute(found).one_or_none()


def touch_token(session: Session, token_id: str) -> bool:
    """Record when the token was last used, to the hour. Return whether anything was written."""
    token = session.get(Token, token_id)
    moment = current_time(session)
    if token is None or (token.last_used_at is not None and moment - token.last_used_at < LAST_USE_PRECISION):
        return False
    token.last_used_at = moment
    return True


def list_tokens(session: Session, account_id: str) -> list[Token]:
    """Return all tokens of the account, including revoked ones, newest first."""
    query = select(Token).where(Token.account_id == account_id)
    return list(session.scalars(query.order_by(Token.created_at.desc(), Token.id)))


def revoke_all_tokens(session: Session, account_id: str) -> None:
    """Revoke all tokens of the account."""
    valid = update(Token).where(Token.account_id == account_id, Token.revoked_at.is_(None))
    session.execute(valid.values(revoked_at=current_time(session)))


def revoke_token(session: Session, account_id: str, token_id: str) -> Token:
    """Revoke a token, unless it is revoked already. End its device tokens, and the recovery code if the token made it.

    Raise ``NotFound`` if this account has no such token.
    """
    token = session.get(Token, token_id)
    if token is None or token.account_id != account_id:
        raise NotFound("token", token_id)
    lock_present(session, account_id)  # the token may be making a code at this moment
    made_code = update(Account).where(Account.id == account_id, Account.recovery_token_id == token_id)
    session.execute(made_code.values(recovery_sha256=None, recovery_code_created_at=None, recovery_token_id=None))
    ending = update(Token).where(or_(Token.id == token_id, Token.parent_id == token_id), Token.revoked_at.is_(None))
    session.execute(ending.values(revoked_at=current_time(session)))
    return token


# -- text of a token or recovery code: a prefix, 32 random bytes in base 62, a checksum that detects typing errors --


def new_secret_text(prefix: str) -> str:
    secret = _base62(int.from_bytes(secrets.token_bytes(32)), _SECRET_DIGITS)
    return prefix + secret + _base62(zlib.crc32(secret.encode()), _CHECK_DIGITS)


def is_secret_text(text: str, prefix: str) -> bool:
    secret, check = text[len(prefix) : -_CHECK_DIGITS], text[-_CHECK_DIGITS:]
    well_formed = text.startswith(prefix) and len(secret) == _SECRET_DIGITS and set(secret) <= set(_BASE62)
    return well_formed and check == _base62(zlib.crc32(secret.encode()), _CHECK_DIGITS)


def digest_secret(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _base62(number: int, digits: int) -> str:
    text = ""
    for _ in range(digits):
        number, digit = divmod(number, 62)
        text = _BASE62[digit] + text
    return text
