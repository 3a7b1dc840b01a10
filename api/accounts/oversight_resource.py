"""Let operators list, suspend and rename accounts and give roles, and let owners ask for the role of an organiser."""

from typing import Any

from api.accounts.oversight_schemas import (
    AccountQuery,
    NewOrganiserRequest,
    OperatorRename,
    OrganiserRequestView,
    OverseenAccountView,
    Reasoned,
    RoleChange,
    RoleRefusal,
)
from api.auth import account, admin, current_account
from api.extended import Extended
from api.pagination import list_of, single_page
from api.views import Resource, current_session, master_key
from referee.accounts import accounts, organiser_requests
from referee.accounts.scopes import Scope
from referee.accounts.tables import Account
from referee.workflows.accounts import account_oversight

resource = Resource("oversight", "/api/v1", "What operators do with accounts.")

ACCOUNT = '/accounts/<id("acc"):account_id>'
OWN_REQUEST = "/accounts/me/organiser-request"


@resource.get("/accounts", admin, items=OverseenAccountView, query=AccountQuery)
def list_accounts(query: dict[str, Any]) -> Any:
    """List accounts, newest first

    Only the operator may do this, with a token of the scope `all`.
    """
    return accounts.list_accounts(current_session(), **query)


@resource.post(f"{ACCOUNT}/suspend", admin, OverseenAccountView, body=Reasoned, scope=Scope.ALL)
def suspend(body: dict[str, Any], account_id: str) -> Account:
    """Suspend an account

    All its requests are refused with a 403 that has the reason, and its bots are paused. Only the operator may do this.
    """
    session, operator = current_session(), current_account()
    return account_oversight.suspend(session, operator, account_id, body["reason"], master_key=master_key())


@resource.post(f"{ACCOUNT}/restore", admin, OverseenAccountView, body=Reasoned, scope=Scope.ALL)
def restore(body: dict[str, Any], account_id: str) -> Account:
    """End the suspension of an account

    Its bots stay paused until their owner resumes them.
    """
    return account_oversight.restore(current_session(), current_account(), account_id, body["reason"])


@resource.post(f"{ACCOUNT}/rename", admin, OverseenAccountView, body=OperatorRename, scope=Scope.ALL)
def rename(body: dict[str, Any], account_id: str) -> Account:
    """Give an account another name

    Only the operator may do this, with a `reason`, which is kept in the list of acts. The former name is not shown any
    longer, and nobody can take it for 30 days. A name that another account has, or one that looks the same, is a 409
    `name_taken`.
    """
    return account_oversight.rename(current_session(), current_account(), account_id, **body)


@resource.post(f"{ACCOUNT}/role", admin, OverseenAccountView, body=RoleChange, scope=Scope.ALL)
def set_role(body: dict[str, Any], account_id: str) -> Account:
    """Give or take the role of an organiser

    This answers an open request of the account.
    """
    return account_oversight.set_role(current_session(), current_account(), account_id, **body)


@resource.get("/organiser-requests", admin, list_of(OrganiserRequestView))
def list_requests() -> Any:
    """List open requests for the role of an organiser, the oldest first

    The list has the 100 oldest requests that are not answered, each with its account. Only the operator may do this,
    with a token of the scope `all`.
    """
    found = organiser_requests.list_open(current_session())
    return single_page([Extended(request, account=asking) for request, asking in found])


@resource.post(
    '/organiser-requests/<id("acc"):account_id>/refuse', admin, OrganiserRequestView, body=RoleRefusal, scope=Scope.ALL
)
def refuse(body: dict[str, Any], account_id: str) -> Any:
    """Refuse the request of an account for the role of an organiser

    The account cannot ask again; you can still give it the role.
    """
    request = account_oversight.refuse_role(current_session(), current_account(), account_id, body["reason"])
    return Extended(request, account=accounts.get_account(current_session(), account_id))


@resource.get(OWN_REQUEST, account, list_of(OrganiserRequestView))
def show_request() -> Any:
    """Get your request for the role of an organiser, if there is one

    The list is empty without a request. A refused request has the reason; one that was granted is no longer listed.
    """
    request = organiser_requests.find_request(current_session(), current_account().id)
    return single_page([] if request is None else [Extended(request, account=current_account())])


@resource.post(OWN_REQUEST, account, OrganiserRequestView, body=NewOrganiserRequest, status=201, scope=Scope.ALL)
def ask(body: dict[str, Any]) -> Any:
    """Ask for the role of an organiser

    Organisers run listed and rated tournaments. Asking again changes the text of an open request.
    """
    request = organiser_requests.ask(current_session(), current_account(), body["text"])
    return Extended(request, account=current_account()), {"Location": f"/api/v1{OWN_REQUEST}"}
