"""Define the schemas of invitations."""

from typing import ClassVar

from api import fields
from api.fields import Id, QueryBool, Strict, UtcDateTime, View
from api.messages import Length
from api.pagination import PageQuery
from referee import plugs
from referee.tournaments.states import InvitationKind, InvitationState


class NewOrganiser(Strict):
    account = fields.String("Name or id of an account.", required=True, validate=Length(1, 64))


class InvitedBot(Strict):
    bot = Id("bot", required=True)


class InvitationQuery(PageQuery):
    pending = QueryBool("Whether the invitation can still be decided.")
    tournament = Id("trn", "Return those concerning this tournament, which you run.")

    class Meta(PageQuery.Meta):
        include: ClassVar = {
            organised.kind: Id(organised.prefix, f"Return those concerning this {organised.kind}, which you run.")
            for organised in plugs.list_organised()
        }


class InvitationView(View):
    id = fields.String()
    kind = fields.OneOf(
        [*InvitationKind, *(organised.kind for organised in plugs.list_organised())],
        "What is asked: to run a tournament or a series, too, or to enter a bot (`entry`).",
    )
    tournament = fields.String(allow_none=True)
    name = fields.String("Name of the tournament or series.")
    bot = fields.String(attribute="bot_id", allow_none=True)
    bot_name = fields.String(allow_none=True)
    account = fields.String("Id of the account that decides.", attribute="account_id")
    account_name = fields.String()
    invited_by = fields.String()
    invited_by_name = fields.String()
    state = fields.OneOf(
        InvitationState,
        "`lapsed`: nobody accepted it before the tournament started or, for organisers and late entries, ended. "
        "An account that declined can still accept.",
    )
    waits_for_you = fields.Boolean("Whether you can accept or decline it.")
    created_at = UtcDateTime()
    decided_at = UtcDateTime(allow_none=True)

    class Meta(View.Meta):
        include: ClassVar = {organised.kind: fields.String(allow_none=True) for organised in plugs.list_organised()}
