"""Add and remove co-organisers of a tournament over HTTP."""

from typing import Any

from marshmallow import fields

from api.auth import account
from api.fields import Strict, describe
from api.messages import Length
from api.tournaments.access import get_managed_tournament, record_act
from api.tournaments.presentation import attach_progress
from api.tournaments.schemas import WholeTournamentView
from api.views import Resource, current_session
from referee.accounts.act_kinds import ActKind
from referee.accounts.scopes import Scope
from referee.tournaments import organisers

resource = Resource("organisers", "/api/v1/tournaments", "Accounts that run a tournament together.")


class NewOrganiser(Strict):
    account = fields.String(required=True, validate=Length(1, 64), metadata=describe("Name or id of an account."))


@resource.post(
    '/<id("trn"):tournament_id>/organisers', account, WholeTournamentView, body=NewOrganiser, scope=Scope.ORGANISE
)
def add(body: dict[str, Any], tournament_id: str) -> Any:
    """Let another account run the tournament, too

    Co-organisers may do everything that you may, at most 10 of them.
    """
    tournament = get_managed_tournament(tournament_id)
    added = organisers.add_organiser(current_session(), tournament.id, body["account"])
    record_act(ActKind.ORGANISER_ADDED, tournament, added.id)
    return attach_progress(tournament)


@resource.delete('/<id("trn"):tournament_id>/organisers/<id("acc"):account_id>', account, scope=Scope.ORGANISE)
def remove(tournament_id: str, account_id: str) -> None:
    """Take the tournament from a co-organiser

    The account that created the tournament always runs it.
    """
    tournament = get_managed_tournament(tournament_id)
    organisers.remove_organiser(current_session(), tournament.id, account_id)
    record_act(ActKind.ORGANISER_REMOVED, tournament, account_id)
