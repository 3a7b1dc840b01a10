"""Authenticate requests by the bearer token in their Authorization header; check the role and scope a view needs."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from flask import current_app, g, request
from sqlalchemy.orm import Session

from api import limits
from api.errors import Problem
from referee.accounts import accounts
from referee.accounts.roles import ORGANISING, Role
from referee.accounts.scopes import Scope
from referee.accounts.tables import Account, Token
from referee.db.engine import Database, current_time
from referee.errors import Forbidden, Unavailable

log = logging.getLogger(__name__)

NOT_ACCEPTED = "The token was not accepted (malformed, unknown or revoked). Send a valid one."
NOT_KEPT = "Operators are not kept signed in. Enter your token in each tab in which you need it."


@dataclass(frozen=True, slots=True)
class Authenticated:
    """Hold a token that was not revoked, its account, and the time of the lookup."""

    token: Token
    account: Account
    moment: datetime
    is_expired: bool


def identify_caller() -> None:
    """Store the key under which this request is counted: the digest of a valid token, else the address.

    Only routes of the API look tokens up, which they need anyway; elsewhere a token has no effect, so the address is
    counted. This cannot be done in the limiter, which treats any exception as a failure of Redis.
    """
    is_for_api = request.endpoint and request.path.startswith("/api/")
    authenticated = authenticate_request() if is_for_api else None
    if authenticated is not None:
        g.caller = f"token:{authenticated.token.sha256[:32]}"
    else:
        g.caller = f"address:{limits.caller_address()}"


def authorize(role: Callable[[], object], scope: Scope) -> None:
    """Authenticate the request. Raise unless its token, if there is one, has the scope, and its account the role.

    The scope is checked first, and both before anything is looked up: a token without the scope gets the same answer
    whatever exists, and whatever its account may do.
    """
    g.account = _authenticate()
    require_scope(scope)
    role()


# -- roles that a view may need, checked after authentication --


def anyone() -> None:
    """Accept all requests, also those without a token."""


def account() -> Account:
    """Return the account of the request. Raise a 401 ``Problem`` if the request has no token."""
    g.needs_token = True
    found = cast("Account | None", g.account)
    if found is None:
        raise _unauthenticated_problem(
            "This request needs a token. Send it in the header `Authorization: Bearer ref_…`."
        )
    return found


def admin() -> None:
    """Raise ``Forbidden`` unless the account of the request is the operator's."""
    if account().role != Role.ADMIN:
        raise Forbidden("Only the operator may do this.")


def require_scope(scope: Scope) -> None:
    """Raise a 403 ``Problem`` if the request has a token without this scope."""
    authenticated = authenticate_request()
    if authenticated is not None and not has_scope(scope):
        detail = (
            f"This request needs a token with the scope `{scope}`; this token has "
            f"{' and '.join(authenticated.token.scopes)}. Create a token with that scope on the account page."
        )
        challenge = f'Bearer realm="referee", error="insufficient_scope", scope="{scope}"'
        raise Problem(403, "missing_scope", detail, headers={"WWW-Authenticate": challenge})


def has_scope(scope: Scope) -> bool:
    """Return whether the request has a token that may do what needs this scope. Every token may read."""
    authenticated = authenticate_request()
    held = () if authenticated is None else (Scope.READ, *authenticated.token.scopes)
    return scope in held or Scope.ALL in held


def authenticate_request() -> Authenticated | None:
    """Return the token of this request and its account, or None if the token is missing or not accepted.

    Look it up at most once per request.
    """
    if "authenticated" not in g:
        g.authenticated = _look_up_token()
    found: Authenticated | None = g.authenticated
    return None if found is None or found.is_expired else found


def recovery_token_id() -> str | None:
    """Return the id of the request's token if what it makes may recover the account, otherwise None.

    The token must have the scope ``all`` and never expire: a lesser one must not become one for everything for ever.
    """
    authenticated = authenticate_request()
    if authenticated is None or authenticated.token.expires_at is not None or not has_scope(Scope.ALL):
        return None
    return authenticated.token.id


def confirm_token(session: Session) -> None:
    """Raise a 401 ``Problem`` if the token of the request was revoked since it was looked up.

    Lock the account, so that a recovery at the same time cannot miss what this transaction makes: a stolen token must
    not get a new one while all tokens are revoked.
    """
    authenticated = cast(Authenticated, authenticate_request())
    accounts.lock_present(session, authenticated.account.id)
    token = session.get(Token, authenticated.token.id)
    if token is None or token.revoked_at is not None:
        raise _unauthenticated_problem(NOT_ACCEPTED, error="invalid_token")


def refuse_suspended(account: Account) -> None:
    """Raise a 403 ``Problem`` with the reason if the account is suspended."""
    if account.suspended_at is not None:
        raise Problem(403, "suspended", f"Your account is suspended: {account.suspension_reason}")


def current_account() -> Account:
    """Return the account of the request. Call this only in views that require an account."""
    return cast(Account, g.account)


def current_token() -> Token:
    """Return the token of the request. Call this only in views that require an account."""
    return cast(Authenticated, authenticate_request()).token


def viewer() -> Account | None:
    """Return the account of the request, or None if the request has no token."""
    return cast("Account | None", g.get("account"))


def viewer_id() -> str | None:
    """Return the id of the request's account, or None if the request has no token."""
    found = viewer()
    return None if found is None else found.id


def may_organise() -> bool:
    """Return whether the request's account may organise tournaments."""
    found = viewer()
    return found is not None and found.role in ORGANISING


def _authenticate() -> Account | None:
    if "Authorization" not in request.headers:
        return None
    authenticated = authenticate_request()
    if authenticated is None:
        if g.authenticated is not None:
            raise _unauthenticated_problem(
                f"The token expired on {g.authenticated.token.expires_at:%Y-%m-%d at %H:%M} UTC. Create another one on "
                "the account page with another token of the account, or ask the operator for one.",
                error="invalid_token",
            )
        limits.count_use(limits.GUESSES, "guesses")
        raise _unauthenticated_problem(NOT_ACCEPTED)
    refuse_suspended(authenticated.account)
    token = authenticated.token
    if token.parent_id is not None and authenticated.account.role == Role.ADMIN:
        raise _unauthenticated_problem(NOT_KEPT, error="invalid_token")
    if token.last_used_at is None or authenticated.moment - token.last_used_at > accounts.LAST_USE_PRECISION:
        _record_use(token.id)
    return authenticated.account


def _look_up_token() -> Authenticated | None:
    """Return the bearer token in the Authorization header, or None if there is none or it is not accepted."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    text = text.strip()
    if scheme.lower() != "bearer" or not accounts.is_secret_text(text, accounts.TOKEN_PREFIX):
        return None
    database = cast(Database, current_app.extensions["referee.database"])
    with database.read() as session:
        found = accounts.find_token(session, text)
        if found is None:
            return None
        (token, account), moment = found, current_time(session)
        is_expired = token.expires_at is not None and token.expires_at <= moment
        return Authenticated(token, account, moment, is_expired)


def _record_use(token_id: str) -> None:
    """Record the hour of the token's last use, which its owner can see. If the database is busy, record nothing."""
    database = cast(Database, current_app.extensions["referee.database"])
    try:
        with database.write(durable=False) as session:
            accounts.touch_token(session, token_id)
    except Unavailable:
        log.info("token_use_not_recorded", extra={"token": token_id})


def _unauthenticated_problem(detail: str, *, error: str | None = None) -> Problem:
    challenge = 'Bearer realm="referee"' + (f', error="{error}"' if error else "")
    return Problem(401, "unauthenticated", detail, headers={"WWW-Authenticate": challenge})
