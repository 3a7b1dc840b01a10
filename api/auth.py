"""Authenticate requests by the bearer token in their Authorization header; check the role and scope a view needs."""

import logging
from typing import cast

from flask import current_app, g, request

from api import limits, tokens
from api.errors import Problem
from referee.accounts import accounts
from referee.accounts.roles import ORGANISING, Role
from referee.accounts.scopes import Scope, grants
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


def require_scope(scope: Scope) -> None:
    """Raise a 403 ``Problem`` if the request has a token without this scope."""
    held = token_scopes()
    if held is not None and not grants(held, scope):
        detail = (
            f"This request needs a token with the scope `{scope}`; this token has {' and '.join(held)}. Create a token "
            "with that scope on the account page or with `referee tokens create`."
        )
        challenge = f'Bearer realm="referee", error="insufficient_scope", scope="{scope}"'
        raise Problem(403, "missing_scope", detail, headers={"WWW-Authenticate": challenge})


def has_scope(scope: Scope) -> bool:
    """Return whether the request has a token with this scope."""
    held = token_scopes()
    return held is not None and grants(held, scope)


def token_scopes() -> list[str] | None:
    """Return the scopes of the request's token, or None if the request has no token."""
    authenticated = tokens.authenticate_request()
    return None if authenticated is None else authenticated.token.scopes


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
        if (expired := tokens.expired_at()) is not None:
            raise _unauthenticated_problem(
                f"The token expired on {expired:%Y-%m-%d} at {expired:%H:%M} UTC. Create another one on the account "
                "page with another token of the account, or ask the operator for one.",
                error="invalid_token",
            )
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


def _unauthenticated_problem(detail: str, *, error: str | None = None) -> Problem:
    challenge = 'Bearer realm="referee"' + (f', error="{error}"' if error else "")
    return Problem(401, "unauthenticated", detail, headers={"WWW-Authenticate": challenge})
