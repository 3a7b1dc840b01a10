"""Let owners rename and delete their accounts, and operators delete accounts."""

from typing import Any

from api import etags
from api.accounts.deletion import require_typed_name
from api.accounts.oversight_schemas import OperatorDeletion
from api.accounts.schemas import AccountChanges, AccountDeletion, DeletedAccountView, OwnAccountView
from api.auth import account, admin, current_account
from api.views import Resource, current_session, master_key
from referee.accounts import accounts
from referee.accounts.entry_consent import EntryConsent
from referee.accounts.scopes import Scope
from referee.accounts.tables import Account
from referee.workflows.accounts import account_oversight
from referee.workflows.erasing import account_deletion

resource = Resource("own-account", "/api/v1/accounts", "What owners do with their accounts as a whole.")


@resource.patch("/me", account, OwnAccountView, body=AccountChanges, scope=Scope.ALL)
def edit(changes: dict[str, Any]) -> Account:
    """Change the name of your account, and whether organisers may enter your bots

    The name can be changed 5 times in 30 days. Your page shows your former names, and for 30 days no other account can
    take one.
    """
    own = accounts.get_account(current_session(), current_account().id)
    etags.require_match(OwnAccountView, own)
    if "entry_consent" in changes:
        own.entry_consent = EntryConsent(changes["entry_consent"])
    if "name" in changes:
        account_oversight.rename(current_session(), own, own.id, changes["name"], None)
    return own


@resource.post("/me/delete", account, DeletedAccountView, body=AccountDeletion, scope=Scope.ALL)
def delete_own(body: dict[str, Any]) -> Account:
    """Delete your account for good, with all of your bots

    `name` must be the name of the account, to confirm. Tokens, webhooks, inbox, friendlies and everything that says who
    you are is erased, and your bots are deleted as by `POST /bots/{id}/delete`. Results stay, under the names that the
    bots played under; instead of your name, a neutral one is shown. Your tournaments and series pass to their first
    co-organiser. Those that only you run end: drafts, and series without a finished tournament, are deleted; other
    tournaments that are not over are cancelled, and their texts are erased. If bots of other accounts are entered in
    one, the response is a 409 unless `end_tournaments` is true. This cannot be undone; `GET /accounts/me/export` has
    all of your data.
    """
    own = accounts.get_account(current_session(), current_account().id)
    require_typed_name(body["name"], own.name)
    ends = body["end_tournaments"]
    return account_deletion.delete_account(
        current_session(), own, own.id, ends_tournaments=ends, master_key=master_key()
    )


@resource.post('/<id("acc"):account_id>/delete', admin, DeletedAccountView, body=OperatorDeletion, scope=Scope.ALL)
def delete(body: dict[str, Any], account_id: str) -> Account:
    """Delete another account for good, with all of its bots

    For example at the request of its owner. Only the operator may do this; the effect is that of
    `POST /accounts/me/delete`.
    """
    found = accounts.get_account(current_session(), account_id)
    require_typed_name(body["name"], found.name)
    return account_deletion.delete_account(
        current_session(),
        current_account(),
        account_id,
        reason=body["reason"],
        ends_tournaments=body["end_tournaments"],
        master_key=master_key(),
    )
