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


def bearer_token() -> str | None:
    """Return the bearer token in the Authorization header, or None if there is no well-formed one."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    text = text.strip()
    return text if scheme.lower() == "bearer" and accounts.is_token_text(text) else None


def authenticate_request() -> Authenticated | None:
    """Return the token of this request and its account, or None if the token is missing, unknown or revoked."""
    if "authenticated" not in g:
        text = bearer_token()
        g.authenticated = None if text is None else _look_up(text)
    return cast("Authenticated | None", g.authenticated)


def _look_up(text: str) -> Authenticated | None:
    database = cast(Database, current_app.extensions["referee.database"])
    with database.read() as session:
        token = accounts.find_token(session, text)
        account = None if token is None else accounts.get_account(session, token.account_id)
        return None if token is None or account is None else Authenticated(token, account, current_time(session))
