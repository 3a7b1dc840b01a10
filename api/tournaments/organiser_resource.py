"""Invite co-organisers of a tournament and remove organisers over HTTP."""

from typing import Any

from api.auth import account, current_account, require_scope
from api.invitations.presentation import present_sent
from api.invitations.schemas import InvitationView, NewOrganiser
from api.tournaments.access import TOURNAMENT, get_managed_tournament, record_act
from api.views import Resource, current_session
from referee.accounts.act_kinds import ActKind
from referee.accounts.scopes import Scope
from referee.errors import Forbidden
from referee.tournaments import tournaments
from referee.workflows.accounts import invitations

resource = Resource("organisers", TOURNAMENT, "Accounts that run a tournament together.")


@resource.post("/organisers", account, InvitationView, body=NewOrganiser, status=201, scope=Scope.ORGANISE)
def add(body: dict[str, Any], tournament_id: str) -> Any:
    """Invite another account to run the tournament, too

    When it has accepted, it is a co-organiser and may do everything that you may; before that, it may do nothing and is
    shown nowhere. A tournament has at most 10 co-organisers, with those invited.
    """
    tournament = get_managed_tournament(tournament_id)
    invited = invitations.invite_to_tournament(current_session(), tournament.id, body["account"], current_account())
    return present_sent(invited)


@resource.delete('/organisers/<id("acc"):account_id>', account, scope=Scope.ORGANISE)
def remove(tournament_id: str, account_id: str) -> None:
    """Take the tournament from a co-organiser, or leave it yourself

    If the account that created it leaves, its first co-organiser takes it over; this needs a token with the scope
    `all`. The last organiser can leave only when the tournament is over.
    """
    tournament = get_managed_tournament(tournament_id)
    if account_id == tournament.created_by != current_account().id:
        raise Forbidden("The account that created the tournament or took it over can only leave it itself.")
    if account_id == tournament.created_by:
        require_scope(Scope.ALL)
    tournaments.remove_organiser(current_session(), tournament.id, account_id)
    record_act(ActKind.ORGANISER_REMOVED, tournament, account_id)
