"""List, accept, decline and withdraw invitations over HTTP.

Tournaments and series create them: ``organiser_resource``, ``entry_resource``.
"""

from typing import Any

from api.auth import account, current_account, require_scope
from api.invitations.presentation import present_invitation, present_invitations, record_act
from api.invitations.schemas import InvitationQuery, InvitationView
from api.views import Resource, current_session
from referee import plugs
from referee.accounts.act_kinds import ActKind
from referee.accounts.scopes import Scope
from referee.db.paging import Page
from referee.errors import NotFound
from referee.tournaments import tournaments
from referee.tournaments.states import InvitationKind
from referee.tournaments.tables import Invitation
from referee.workflows.accounts import invitations

resource = Resource(
    "invitations", "/api/v1/invitations", "Invitations to run tournaments and series, and to enter bots."
)

INVITATION = '/<id("inv"):invitation_id>'
ADDED: dict[str, str] = {  # what an acceptance is recorded as; entries of own bots are not recorded
    InvitationKind.TOURNAMENT: ActKind.ORGANISER_ADDED,
    **{organised.kind: organised.act_kind for organised in plugs.list_organised()},
}


@resource.get("", account, items=InvitationView, query=InvitationQuery)
def list_invitations(query: dict[str, Any]) -> Any:
    """List invitations, newest first

    They are those that you got or, with `tournament` or `series`, those of a tournament or series that you run.
    """
    object_id = query.pop("tournament", None)
    if object_id is not None:
        tournaments.get_tournament(current_session(), object_id, manager=current_account())
    for organised in plugs.list_organised():
        asked = query.pop(organised.kind, None)
        if asked is not None and object_id is None:
            object_id = asked
            invitations.require_manager(current_session(), organised, object_id, current_account())
    account_id = current_account().id if object_id is None else None
    found = invitations.list_invitations(current_session(), account_id=account_id, object_id=object_id, **query)
    return Page(present_invitations(found.items), found.next)


@resource.get(INVITATION, account, InvitationView)
def show(invitation_id: str) -> Any:
    """Get an invitation

    You see those that you got, and those of tournaments and series that you run; others are a 404.
    """
    invitation = invitations.get_invitation(current_session(), invitation_id)
    if invitation.account_id != current_account().id:
        _require_manager(invitation)
    return present_invitation(invitation)


@resource.post(f"{INVITATION}/accept", account, InvitationView, scope=Scope.PLAY, wakes_runner=True)
def accept(invitation_id: str) -> Any:
    """Accept an invitation

    To enter a bot: the bot is entered; if it cannot be entered now, the response is a 409 and the invitation stays. To
    run a tournament or series (this needs the scope `organise`): you may do everything there that its organisers may,
    your name is shown with theirs, and you take it over if the account that created it leaves before you. You can leave
    at any time with `DELETE …/organisers/{your id}`.
    """
    caller = current_account()
    invitation = invitations.get_invitation(current_session(), invitation_id)
    if invitation.account_id == caller.id and invitation.kind in ADDED:
        require_scope(Scope.ORGANISE)
    accepted = invitations.accept(current_session(), invitation_id, caller)
    if accepted.kind in ADDED:
        record_act(ADDED[accepted.kind], accepted)
    return present_invitation(accepted)


@resource.post(f"{INVITATION}/decline", account, InvitationView, scope=Scope.PLAY)
def decline(invitation_id: str) -> Any:
    """Decline an invitation

    You are not asked again, but can still accept it.
    """
    return present_invitation(invitations.decline(current_session(), invitation_id, current_account().id))


@resource.post(f"{INVITATION}/withdraw", account, InvitationView, scope=Scope.ORGANISE)
def withdraw(invitation_id: str) -> Any:
    """Withdraw an invitation of a tournament or series that you run

    It can no longer be accepted. An invitation that was accepted, or that has lapsed, is a 409.
    """
    invitation = invitations.get_invitation(current_session(), invitation_id)
    _require_manager(invitation)
    withdrawn = invitations.withdraw(current_session(), invitation)
    record_act(ActKind.INVITATION_WITHDRAWN, withdrawn)
    return present_invitation(withdrawn)


def _require_manager(invitation: Invitation) -> None:
    """Raise ``NotFound`` unless the caller runs what the invitation is about."""
    if not invitations.is_manager(current_session(), current_account(), invitation):
        raise NotFound("invitation", invitation.id)
