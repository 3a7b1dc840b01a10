"""Void matches, and list, confirm, decline and withdraw proposals of voids."""

from typing import Any

from api.auth import account, admin, anyone, current_account
from api.matches.presentation import present_report, present_voids
from api.matches.rights import may_void, record_act
from api.matches.void_schemas import VoidedView, VoidMatch, VoidQuery, VoidView
from api.views import Resource, current_session, master_key
from referee.accounts.act_kinds import ActKind
from referee.accounts.scopes import Scope
from referee.db.paging import Page
from referee.errors import Forbidden
from referee.matches import matches, voids
from referee.matches.voids import VoidFilter, VoidRequest
from referee.workflows.voids import void_proposals

resource = Resource("voids", "/api/v1", "Voids of matches that had ended, and proposals of voids.")


@resource.post(
    '/matches/<id("mat"):match_id>/void', account, VoidedView, wakes_runner=True, body=VoidMatch, scope=Scope.ORGANISE
)
def void(wish: dict[str, Any], match_id: str) -> Any:
    """Void a finished match, so that it no longer counts, or propose it

    Only the organiser who created the match or runs its tournament may ask for this, and the operator. If the result
    counts on a ladder or in a tournament, this creates a `proposal`, which takes effect when an operator without a bot
    in the match confirms it. The operator's own request takes effect immediately, unless they own a bot in the match. A
    stuck match is voided immediately. The log and placements of a void match stay readable, with the reason, and a new
    ledger entry changes the ladder to what it would be without the match. A match is played again at most once.
    """
    if not may_void(matches.get_match(current_session(), match_id)):
        raise Forbidden("Only the organiser who created a match or runs its tournament may void it.")
    outcome = void_proposals.void_or_propose(
        current_session(), current_account(), VoidRequest(match_id, **wish), master_key=master_key()
    )
    record_act(ActKind.VOID_ASKED, match_id, reason=wish["reason"], proposed=outcome.proposal is not None)
    return present_report(outcome.report, outcome.proposal)


@resource.get("/voids", anyone, items=VoidView, query=VoidQuery)
def list_voids(query: dict[str, Any]) -> Any:
    """List voids of ended matches and proposals of voids, newest first

    Anyone can read them. Filter by match, tournament or state.
    """
    place = {name: query.pop(name) for name in ("limit", "cursor")}
    found = voids.list_voids(current_session(), VoidFilter(**query), **place)
    return Page(present_voids(found.items), found.next)


@resource.get('/voids/<id("vod"):void_id>', anyone, VoidView)
def show(void_id: str) -> Any:
    """Get a void or a proposal

    `state` says whether the match is void. Anyone can read this.
    """
    return present_voids([voids.get_void(current_session(), void_id)])[0]


@resource.post('/voids/<id("vod"):void_id>/confirm', admin, VoidedView, wakes_runner=True, scope=Scope.ALL)
def confirm(void_id: str) -> Any:
    """Confirm a proposal, so that its match is void

    Only an operator may do this who did not propose it and owns no bot in the match.
    """
    report = void_proposals.confirm(current_session(), current_account(), void_id, master_key=master_key())
    record_act(ActKind.VOID_CONFIRMED, voids.get_void(current_session(), void_id).match_id, void=void_id)
    return present_report(report)


@resource.post('/voids/<id("vod"):void_id>/decline', admin, VoidView, scope=Scope.ALL)
def decline(void_id: str) -> Any:
    """Decline a proposal, so that the match keeps its result

    Only an operator may do this who did not propose it and owns no bot in the match.
    """
    declined = void_proposals.decline(current_session(), current_account(), void_id)
    record_act(ActKind.VOID_DECLINED, declined.match_id, void=void_id)
    return present_voids([declined])[0]


@resource.post('/voids/<id("vod"):void_id>/withdraw', account, VoidView, scope=Scope.ORGANISE)
def withdraw(void_id: str) -> Any:
    """Withdraw your own proposal

    The match keeps its result. The proposal of another account is a 403, and one that is no longer open a 409.
    """
    withdrawn = void_proposals.withdraw(current_session(), current_account(), void_id)
    record_act(ActKind.VOID_WITHDRAWN, withdrawn.match_id, void=void_id)
    return present_voids([withdrawn])[0]
