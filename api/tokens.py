"""Look up the token that a request shows, at most once a request. What its account may do is decided by ``auth``."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from flask import current_app, g, request

from referee.accounts import accounts
from referee.accounts.tables import Account, Token
from referee.db.engine import Database, current_time


@dataclass(frozen=True, slots=True)
class Opened:
    """A living token, the account it opens, and when it was looked up."""

    token: Token
    account: Account
    moment: datetime


def text_shown() -> str | None:
    """Return the text of the bearer token in the Authorization header; None without one that is well formed."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    text = text.strip()
    return text if scheme.lower() == "bearer" and accounts.is_token_text(text) else None


def authenticate_request() -> Opened | None:
    """Return what the token of this request opens; None without a token, or with an unknown or revoked one."""
    if "opened" not in g:
        text = text_shown()
        g.opened = None if text is None else _look_up(text)
    return cast("Opened | None", g.opened)


def _look_up(text: str) -> Opened | None:
    database = cast(Database, current_app.extensions["referee.database"])
    with database.read() as session:
        token = accounts.token_of(session, text)
        account = None if token is None else accounts.get_account(session, token.account_id)
        return None if token is None or account is None else Opened(token, account, current_time(session))
