"""Authenticate requests by the bearer token in their Authorization header, and check the role a view needs."""

import logging
from typing import cast

from flask import current_app, g, request

from api import limits, tokens
from api.errors import Problem
from referee.accounts import accounts
from referee.accounts.roles import ORGANISING, Role
from referee.accounts.tables import Account
from referee.db.engine import Database
from referee.errors import Forbidden, Unavailable

log = logging.getLogger(__name__)


def anyone() -> Account | None:
    """Return the account of the request's token, or None without a token. Raise a 401 ``Problem`` if it is invalid."""
    g.account = found = _authenticate()
    return found


def account() -> Account:
    """Return the account of the request. Raise a 401 ``Problem`` if the request has no token or an invalid one."""
    g.needs_token = True
    found = anyone()
    if found is None:
        raise _unauthenticated_problem(
            "This request needs a token. Send it in the header `Authorization: Bearer ref_…`."
        )
    return found


def organiser() -> Account:
    """Return the account of the request if it may organise tournaments. Raise ``Forbidden`` otherwise."""
    found = account()
    accounts.require_role(found, Role.ORGANISER)
    return found


def admin() -> Account:
    """Return the account of the request if it is the operator's. Raise ``Forbidden`` otherwise."""
    found = account()
    if found.role != Role.ADMIN:
        raise Forbidden("Only the operator may do this.")
    return found


def current_account() -> Account:
    """Return the account of the request. Call this only in views that require an account."""
    return cast(Account, g.account)


def viewer() -> Account | None:
    """Return the account of the request, or None if the request has no token."""
    return cast("Account | None", g.get("account"))


def viewer_id() -> str | None:
    """Return the id of the request's account, or None if the request has no token."""
    found = cast("Account | None", g.get("account"))
    return None if found is None else found.id


def viewer_role() -> Role | None:
    """Return the role of the request's account, or None if the request has no token."""
    found = cast("Account | None", g.get("account"))
    return None if found is None else found.role


def may_organise() -> bool:
    """Return whether the request's account may organise tournaments."""
    return viewer_role() in ORGANISING


def _authenticate() -> Account | None:
    if "Authorization" not in request.headers:
        return None
    authenticated = tokens.authenticate_request()
    if authenticated is None:
        limits.count_use(limits.GUESSES, "guesses")
        raise _unauthenticated_problem("The token was not accepted (malformed, unknown or revoked). Send a valid one.")
    if authenticated.account.suspended_at is not None:
        raise Problem(403, "suspended", f"Your account is suspended: {authenticated.account.suspension_reason}")
    token = authenticated.token
    if token.last_used_at is None or authenticated.moment - token.last_used_at > accounts.LAST_USE_PRECISION:
        _record_use(token.id)
    return authenticated.account


def _record_use(token_id: str) -> None:
    """Record the hour of the token's last use, which its owner can see. If the database is busy, record nothing."""
    database = cast(Database, current_app.extensions["referee.database"])
    try:
        with database.write(durable=False) as session:
            accounts.touch_token(session, token_id)
    except Unavailable:
        log.info("token_use_not_recorded", extra={"token": token_id})


def _unauthenticated_problem(detail: str) -> Problem:
    return Problem(401, "unauthenticated", detail, headers={"WWW-Authenticate": 'Bearer realm="referee"'})
