"""Who asks: bearer tokens in the Authorization header, nowhere else. What they may do with a thing is the record's."""

import logging
from typing import NoReturn, cast

from flask import current_app, g, request

from api import limits
from api.errors import Problem
from referee.errors import Forbidden, Unavailable
from referee.store import accounts
from referee.store.db import Database, now
from referee.store.schema import Account

log = logging.getLogger(__name__)

LONGEST_TOKEN = 128


def anyone() -> Account | None:
    """The account of the token shown, None when none is; a bad token is refused even here."""
    g.account = found = _account_shown()
    return found


def account() -> Account:
    """The account that asks; 401 without one."""
    g.needs_token = True
    found = anyone()
    if found is None:
        raise _unauthenticated("This needs a token: Authorization: Bearer ref_…")
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
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, text = header.partition(" ")
    text = text.strip()
    if scheme.lower() != "bearer" or not text or len(text) > LONGEST_TOKEN or not text.isascii():
        _refuse()
    database = cast(Database, current_app.extensions["referee.database"])
    with database.read() as session:
        token = accounts.token_of(session, text)
        found = None if token is None else session.get(Account, token.account_id)
        moment = now(session)
    if token is None or found is None:
        _refuse()
    if token.last_used_at is None or moment - token.last_used_at > accounts.LAST_USE_STEP:
        _note_use(database, token.id)
    return found


def _note_use(database: Database, token_id: str) -> None:
    """For the owner's list of tokens, to the hour; a busy record is no reason to refuse the request."""
    try:
        with database.write(durable=False) as session:
            accounts.touch_token(session, token_id)
    except Unavailable:
        log.info("use of token not noted", extra={"token": token_id})


def _refuse() -> NoReturn:
    limits.spend(limits.GUESSES, "guesses")
    raise _unauthenticated("The token is malformed, unknown or revoked.")


def _unauthenticated(detail: str) -> Problem:
    return Problem(401, "unauthenticated", detail, headers={"WWW-Authenticate": 'Bearer realm="referee"'})
