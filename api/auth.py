"""Who asks: bearer tokens in the Authorization header, nowhere else. What they may do with a thing is the record's."""

import logging
from typing import cast

from flask import current_app, g, request

from api import limits, tokens
from api.errors import Problem
from referee.accounts import accounts
from referee.accounts.tables import Account
from referee.db.engine import Database
from referee.errors import Forbidden, Unavailable

log = logging.getLogger(__name__)


def anyone() -> Account | None:
    """The account of the token shown, None when none is; a bad token is refused even here."""
    g.account = found = _account_shown()
    return found


def account() -> Account:
    """The account that asks; 401 without one."""
    g.needs_token = True
    found = anyone()
    if found is None:
        raise _unauthenticated_problem("This needs a token: Authorization: Bearer ref_…")
    return found


def organiser() -> Account:
    """An account that may hold events; 403 for others."""
    found = account()
    accounts.require_role(found, "organiser")
    return found


def admin() -> Account:
    """The operator; 403 for others."""
    found = account()
    if found.role != "admin":
        raise Forbidden("this is for the operator")
    return found


def asker() -> Account:
    """The account that asks, in a view that is open to accounts only."""
    return cast(Account, g.account)


def viewer_id() -> str | None:
    """The id of the account that asks, if one does."""
    found = cast("Account | None", g.get("account"))
    return None if found is None else found.id


def viewer_role() -> str | None:
    """The role of the account that asks, if one does."""
    found = cast("Account | None", g.get("account"))
    return None if found is None else found.role


def organises() -> bool:
    """Whether somebody asks who may hold events."""
    return viewer_role() in ("organiser", "admin")


def _account_shown() -> Account | None:
    if "Authorization" not in request.headers:
        return None
    opened = tokens.authenticate_request()
    if opened is None:
        limits.spend(limits.GUESSES, "guesses")
        raise _unauthenticated_problem("The token is malformed, unknown or revoked.")
    token = opened.token
    if token.last_used_at is None or opened.moment - token.last_used_at > accounts.LAST_USE_STEP:
        _note_use(token.id)
    return opened.account


def _note_use(token_id: str) -> None:
    """For the owner's list of tokens, to the hour; a busy record is no reason to refuse the request."""
    database = cast(Database, current_app.extensions["referee.database"])
    try:
        with database.write(durable=False) as session:
            accounts.touch_token(session, token_id)
    except Unavailable:
        log.info("use of token not noted", extra={"token": token_id})


def _unauthenticated_problem(detail: str) -> Problem:
    return Problem(401, "unauthenticated", detail, headers={"WWW-Authenticate": 'Bearer realm="referee"'})
