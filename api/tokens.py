"""Look up the token of a request, at most once per request."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from flask import current_app, g, request

from referee.accounts import accounts
from referee.accounts.tables import Account, Token
from referee.db.engine import Database, current_time


@dataclass(frozen=True, slots=True)
class Authenticated:
    """Hold a valid token, its account, and the time of the lookup."""

    token: Token
    account: Account
    moment: datetime


@dataclass(frozen=True, slots=True)
class Expired:
    """Hold the time at which the token of a request expired."""

    at: datetime


def bearer_token() -> str | None:
    """Return the bearer token in the Authorization header, or None if there is no well-formed one."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    text = text.strip()
    return text if scheme.lower() == "bearer" and accounts.is_secret_text(text, accounts.TOKEN_PREFIX) else None


def authenticate_request() -> Authenticated | None:
    """Return the token of this request and its account, or None if the token is missing or not accepted."""
    found = _load_token()
    return found if isinstance(found, Authenticated) else None


def expired_at() -> datetime | None:
    """Return the time at which the token of this request expired, or None if it has not."""
    found = _load_token()
    return found.at if isinstance(found, Expired) else None


def _load_token() -> Authenticated | Expired | None:
    if "authenticated" not in g:
        text = bearer_token()
        g.authenticated = None if text is None else _look_up(text)
    return cast("Authenticated | Expired | None", g.authenticated)


def _look_up(text: str) -> Authenticated | Expired | None:
    database = cast(Database, current_app.extensions["referee.database"])
    with database.read() as session:
        token = accounts.find_token(session, text)
        if token is None:
            return None
        moment = current_time(session)
        if token.expires_at is not None and accounts.has_expired(token, moment):
            return Expired(token.expires_at)
        return Authenticated(token, accounts.get_account(session, token.account_id), moment)
