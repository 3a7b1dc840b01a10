"""Accounts and their tokens."""

from typing import Any

from flask import current_app

from api import limits
from api.accounts.schemas import AccountView, FreshAccount, FreshToken, NewAccount, NewToken, TokenView
from api.auth import asker
from api.pagination import list_of, single_page
from api.presentation import Extended
from api.views import Resource, record
from referee.accounts import accounts
from referee.accounts.tables import Account, Token
from referee.errors import Forbidden

resource = Resource("accounts", "/api/v1/accounts", "Accounts and the tokens that open them.")

FIRST = "first"  # the name of the token that comes with an account


def admit() -> None:
    """Refuse a new account where self-service is closed, or when this address has opened too many."""
    if not current_app.config["SETTINGS"].self_service:
        raise Forbidden("accounts are opened by the operator here")
    limits.count_new_account()


@resource.route("POST")
@resource.anyone
@resource.body(NewAccount)
@resource.limited(admit)
@resource.writes
@resource.response(FreshAccount, 201, secret=True)
def open_account(new_account: dict[str, Any]) -> Any:
    """Open an account

    Gives the account with its first token, which is shown this once. 403 where self-service is closed. This POST
    takes no Idempotency-Key: nobody is known yet whose key it could be.
    """
    account = accounts.create_account(record(), new_account["name"])
    token = attach_text(*accounts.create_token(record(), account.id, FIRST))
    return Extended(account, token=token), {"Location": "/api/v1/accounts/me"}


@resource.route("GET", "/me")
@resource.owner
@resource.response(AccountView)
def show_account() -> Account:
    """The account that asks"""
    return asker()


@resource.route("POST", "/me/tokens")
@resource.owner
@resource.body(NewToken)
@resource.idempotent
@resource.response(FreshToken, 201, secret=True)
def add_token(new_token: dict[str, Any]) -> Any:
    """Make another token

    Its text is shown this once.
    """
    return attach_text(*accounts.create_token(record(), asker().id, new_token["name"]))


@resource.route("GET", "/me/tokens")
@resource.owner
@resource.reads
@resource.response(list_of(TokenView))
def list_tokens() -> Any:
    """The tokens of the account, revoked ones among them"""
    return single_page(accounts.list_tokens(record(), asker().id))


@resource.route("DELETE", '/me/tokens/<id("tok"):token_id>')
@resource.owner
@resource.writes
@resource.response(None, 204)
def revoke_token(token_id: str) -> None:
    """Revoke a token

    From now on it opens nothing. A second time changes nothing.
    """
    accounts.revoke_token(record(), asker().id, token_id)


@resource.route("POST", '/<id("acc"):account_id>/tokens')
@resource.admin
@resource.body(NewToken)
@resource.idempotent
@resource.response(FreshToken, 201, secret=True)
def replace_token(new_token: dict[str, Any], account_id: str) -> Any:
    """Make a token for somebody who lost his

    For the operator.
    """
    token, text = accounts.create_token(record(), account_id, new_token["name"])
    return attach_text(token, text), {"Location": f"/api/v1/accounts/me/tokens/{token.id}"}


def attach_text(token: Token, text: str) -> Extended:
    return Extended(token, token=text)
