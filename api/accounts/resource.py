"""Open accounts; create, list and revoke tokens."""

from datetime import timedelta
from typing import Any

from flask import current_app

from api import limits
from api.accounts.schemas import (
    FreshAccount,
    FreshToken,
    NewAccount,
    NewDeviceToken,
    NewToken,
    OwnAccountView,
    TokenView,
)
from api.auth import NOT_KEPT, account, admin, anyone, current_account, current_token
from api.extended import Extended
from api.pagination import list_of, single_page
from api.views import Resource, current_session
from referee.accounts import accounts, acts, recovery_codes
from referee.accounts.act_kinds import ActKind
from referee.accounts.roles import Role
from referee.accounts.scopes import Scope
from referee.accounts.tables import Account, Token
from referee.errors import Forbidden

resource = Resource("accounts", "/api/v1/accounts", "Accounts and their tokens.")

FIRST = "first"  # the name of the token that comes with an account


def check_may_open_account() -> None:
    """Raise if self-service is disabled or this address has opened too many accounts."""
    if not current_app.config["SETTINGS"].self_service:
        raise Forbidden("Only the operator opens accounts on this service. Ask the operator for one.")
    limits.count_new_account()


@resource.post(
    "",
    anyone,
    FreshAccount,
    body=NewAccount,
    limit=check_may_open_account,
    status=201,
    secret=True,
    transaction="write",
    scope=Scope.READ,
)
def open_account(new_account: dict[str, Any]) -> Any:
    """Open an account

    The response contains the account, its first token and its recovery code, which are not shown again. Keep the code
    apart from the token: with it you get a new token if you have lost all. Without self-service, the response is a 403.
    This POST accepts no Idempotency-Key, since keys belong to accounts.
    """
    account = accounts.create_account(current_session(), new_account["name"])
    token = attach_token_text(*accounts.create_token(current_session(), account.id, FIRST))
    code = recovery_codes.renew_code(current_session(), account.id)
    return Extended(account, token=token, recovery_code=code), {"Location": "/api/v1/accounts/me"}


@resource.get("/me", account, OwnAccountView, transaction=None)
def show_account() -> Account:
    """Get your account

    The response is the account of the token, with its role. Without a token, it is a 401.
    """
    return current_account()


@resource.post("/me/tokens", account, FreshToken, body=NewToken, status=201, secret=True, scope=Scope.ALL)
def add_token(new_token: dict[str, Any]) -> Any:
    """Create another token

    The text of the token is returned only in this response. Without `scopes` the token may do everything.
    """
    return attach_token_text(*accounts.create_token(current_session(), current_account().id, **token_terms(new_token)))


@resource.post("/me/device-tokens", account, FreshToken, body=NewDeviceToken, status=201, secret=True, scope=Scope.ALL)
def add_device_token(new_token: dict[str, Any]) -> Any:
    """Create a token that keeps a browser signed in

    It has the scopes `play` and `organise`, expires after 30 days, or with the token of this request if that is
    earlier, and ends when that token is revoked. The text of the token is returned only in this response. Operators
    get a 403: their powers need a token that no browser stores.
    """
    if current_account().role == Role.ADMIN:
        raise Forbidden(NOT_KEPT)
    token, text = accounts.create_device_token(current_session(), current_token(), new_token["name"])
    return attach_token_text(token, text), {"Location": f"/api/v1/accounts/me/tokens/{token.id}"}


@resource.get("/me/tokens", account, list_of(TokenView))
def list_tokens() -> Any:
    """List your tokens, including revoked and expired ones

    All are on one page, newest first. The texts of the tokens are not shown again: `hint` has the beginning and end of
    each.
    """
    return single_page(accounts.list_tokens(current_session(), current_account().id))


@resource.delete('/me/tokens/<id("tok"):token_id>', account, scope=Scope.ALL)
def revoke_token(token_id: str) -> None:
    """Revoke a token

    The token is no longer accepted, nor are device tokens that it made. If it made the recovery code, the code ends,
    so make a new one; secrets of bots that were made with it no longer recover the account. Revoking a token again has
    no effect.
    """
    accounts.revoke_token(current_session(), current_account().id, token_id)


@resource.delete("/me/tokens/current", account, scope=Scope.READ)
def revoke_current_token() -> None:
    """Revoke the token of this request

    A browser does this when its user signs out. Every token may do it, whatever its scopes. The effects are those of
    `DELETE /accounts/me/tokens/{token_id}`.
    """
    accounts.revoke_token(current_session(), current_account().id, current_token().id)


@resource.post(
    '/<id("acc"):account_id>/tokens', admin, FreshToken, body=NewToken, status=201, secret=True, scope=Scope.ALL
)
def replace_token(new_token: dict[str, Any], account_id: str) -> Any:
    """Create a token for an account whose tokens were lost

    Only the operator may do this.
    """
    token, text = accounts.create_token(current_session(), account_id, **token_terms(new_token))
    acts.record_act(current_session(), current_account(), ActKind.TOKEN_CREATED, account_id, name=token.name)
    return attach_token_text(token, text), {"Location": f"/api/v1/accounts/me/tokens/{token.id}"}


def token_terms(new_token: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``create_token`` for a request body."""
    days = new_token["expires_in_days"]
    lifetime = None if days is None else timedelta(days=days)
    return {"name": new_token["name"], "scopes": new_token["scopes"], "lifetime": lifetime}


def attach_token_text(token: Token, text: str) -> Extended:
    return Extended(token, token=text)
