"""Ask for friendlies with bots whose owners decide about each one; accept, decline and withdraw such requests."""

from collections.abc import Sequence
from typing import Any

from api import limits
from api.auth import account, current_account
from api.extended import Extended
from api.friendlies.schemas import Decline, NewRequest, RequestQuery, RequestView
from api.matches.friendly_terms import check_own_friendly, plan_match
from api.views import Resource, current_session, master_key
from referee.accounts import accounts
from referee.accounts.scopes import Scope
from referee.bots import bots
from referee.db.engine import current_time
from referee.db.paging import Page
from referee.friendlies import requests
from referee.friendlies.states import RequestState
from referee.friendlies.tables import FriendlyRequest

resource = Resource("friendly-requests", "/api/v1/friendly-requests", "Requests for friendlies.")

REQUEST = '/<id("frq"):request_id>'


@resource.post(
    "", account, RequestView, scope=Scope.PLAY, body=NewRequest, status=201, limit=limits.count_outgoing_call
)
def create(wish: dict[str, Any]) -> Any:
    """Ask for a friendly

    The owners of the bots that play `on_request` accept or decline it within 7 days. When all have accepted, the match
    is created; it may last for `may_last_s` seconds while others wait for slots, as any friendly. An account can have
    20 pending requests. If nobody has to be asked, the response is a 409.
    """
    check_own_friendly(wish)
    plan = plan_match(wish, rated=False)
    return present_request(requests.create_request(current_session(), plan, current_account().id))


@resource.get("", account, items=RequestView, query=RequestQuery)
def list_requests(query: dict[str, Any]) -> Any:
    """List the requests that you sent or that wait for you, newest first

    Requests are kept for 30 days.
    """
    found = requests.list_requests(current_session(), current_account().id, **query)
    return Page(present_requests(found.items), found.next)


@resource.get(REQUEST, account, RequestView)
def show(request_id: str) -> Any:
    """Get a request that you sent or decide about

    Other accounts get a 404. A request is kept for 30 days.
    """
    return present_request(requests.get_request(current_session(), request_id, current_account().id))


@resource.post(f"{REQUEST}/accept", account, RequestView, scope=Scope.PLAY, wakes_runner=True)
def accept(request_id: str) -> Any:
    """Accept a request for a friendly with your bots

    If the match cannot be created now, for example because a bot is paused, the response is a 409 and the request
    stays pending.
    """
    account_id = current_account().id
    return present_request(requests.accept(current_session(), request_id, account_id, master_key=master_key()))


@resource.post(f"{REQUEST}/decline", account, RequestView, scope=Scope.PLAY, body=Decline)
def decline(wish: dict[str, Any], request_id: str) -> Any:
    """Decline a request for a friendly with your bots

    One owner who declines ends the request for all. The account that sent it is notified, with your `reason` if you
    give one. If the request is not pending, the response is a 409.
    """
    account_id = current_account().id
    return present_request(requests.decline(current_session(), request_id, account_id, wish["reason"]))


@resource.post(f"{REQUEST}/withdraw", account, RequestView, scope=Scope.PLAY)
def withdraw(request_id: str) -> Any:
    """Withdraw a request that you sent

    Its match is then not created. If the request is not pending, the response is a 409.
    """
    return present_request(requests.withdraw(current_session(), request_id, current_account().id))


def present_request(request: FriendlyRequest) -> Extended:
    (presented,) = present_requests([request])
    return presented


def present_requests(found: Sequence[FriendlyRequest]) -> list[Extended]:
    """Return requests with the names of their bots and accounts, as the caller sees them."""
    session, moment, caller = current_session(), current_time(current_session()), current_account().id
    names = bots.names_of(session, {bot_id for request in found for bot_id in request.bots})
    senders = accounts.names_of(session, {request.created_by for request in found})
    presented = []
    for request in found:
        state = requests.state_of(request, moment)
        waits = state == RequestState.PENDING and caller in requests.owners_of(session, request.id)
        more = {"bot_names": [names[bot_id] for bot_id in request.bots], "state": state, "waits_for_you": waits}
        presented.append(Extended(request, created_by_name=senders.get(request.created_by), **more))
    return presented
