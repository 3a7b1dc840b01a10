"""Open accounts; create, list and revoke tokens."""

from typing import Any

from flask import current_app

from api import limits
from api.accounts.schemas import AccountView, FreshAccount, FreshToken, NewAccount, NewToken, TokenView
from api.auth import current_account
from api.pagination import list_of, single_page
from api.presentation import Extended
from api.views import Resource, current_session
from referee.accounts import accounts
from referee.accounts.tables import Account, Token
from referee.errors import Forbidden

resource = Resource("accounts", "/api/v1/accounts", "Accounts and their tokens.")

FIRST = "first"  # the name of the token that comes with an account


def check_may_open_account() -> None:
    """Raise if self-service is disabled or this address has opened too many accounts."""
    if not current_app.config["SETTINGS"].self_service:
        raise Forbidden("Only the operator opens accounts on this service. Ask them for one.")
    limits.count_new_account()


@resource.route("POST")
@resource.anyone
@resource.body(NewAccount)
@resource.limited(check_may_open_account)
@resource.writes
@resource.response(FreshAccount, 201, secret=True)
def open_account(new_account: dict[str, Any]) -> Any:
    """Open an account

    Returns the account with its first token, which is returned only in this response. 403 if self-service is disabled.
    This POST has no Idempotency-Key, since keys belong to accounts.
    """
    account = accounts.create_account(current_session(), new_account["name"])
    token = attach_token_text(*accounts.create_token(current_session(), account.id, FIRST))
    return Extended(account, token=token), {"Location": "/api/v1/accounts/me"}


@resource.route("GET", "/me")
@resource.owner
@resource.response(AccountView)
def show_account() -> Account:
    """Get your account"""
    return current_account()


@resource.route("POST", "/me/tokens")
@resource.owner
@resource.body(NewToken)
@resource.idempotent
@resource.response(FreshToken, 201, secret=True)
def add_token(new_token: dict[str, Any]) -> Any:
    """Create another token

    Its text is returned only in this response.
    """
    return attach_token_text(*accounts.create_token(current_session(), current_account().id, new_token["name"]))


@resource.route("GET", "/me/tokens")
@resource.owner
@resource.reads
@resource.response(list_of(TokenView))
def list_tokens() -> Any:
    """List your tokens, including revoked ones"""
    return single_page(accounts.list_tokens(current_session(), current_account().id))


@resource.route("DELETE", '/me/tokens/<id("tok"):token_id>')
@resource.owner
@resource.writes
@resource.response(None, 204)
def revoke_token(token_id: str) -> None:
    """Revoke a token

    The token is no longer accepted. Revoking it again has no effect.
    """
    accounts.revoke_token(current_session(), current_account().id, token_id)


@resource.route("POST", '/<id("acc"):account_id>/tokens')
@resource.admin
@resource.body(NewToken)
@resource.idempotent
@resource.response(FreshToken, 201, secret=True)
def replace_token(new_token: dict[str, Any], account_id: str) -> Any:
    """Create a token for an account whose owner lost theirs

    For the operator.
    """
    token, text = accounts.create_token(current_session(), account_id, new_token["name"])
    return attach_token_text(token, text), {"Location": f"/api/v1/accounts/me/tokens/{token.id}"}


def attach_token_text(token: Token, text: str) -> Extended:
    return Extended(token, token=text)
