"""Define the schemas of accounts as operators see them, of requests for the role of an organiser, and of acts."""

from api import fields
from api.accounts.schemas import AccountDeletion, AccountView
from api.fields import Id, Name, OptionalBody, PlainText, Strict, UtcDateTime, View
from api.messages import Length
from api.pagination import PageQuery
from referee.accounts.act_kinds import list_act_kinds
from referee.accounts.organiser_requests import MAX_TEXT_LENGTH
from referee.accounts.roles import Role

MAX_REASON_LENGTH = 500
REASON = PlainText(MAX_REASON_LENGTH, "Reason, kept in the list of acts.", required=True)


class AccountQuery(PageQuery):
    name = fields.String("Part of the name, in any case.", validate=Length(1, 64))


class OverseenAccountView(AccountView):
    suspended_at = UtcDateTime(allow_none=True)
    suspension_reason = fields.String(allow_none=True)
    deleted_at = UtcDateTime(allow_none=True)


class Reasoned(Strict):
    reason = REASON


class OperatorRename(Strict):
    name = Name(required=True)
    reason = REASON


class OperatorDeletion(AccountDeletion):
    reason = PlainText(
        MAX_REASON_LENGTH, "Reason, kept in the list of acts. It must not say who the owner is.", required=True
    )


class RoleChange(OptionalBody):
    role = fields.OneOf(
        Role, "`organiser` or `owner`. The role `admin` is given on the command line only.", required=True
    )
    reason = PlainText(MAX_REASON_LENGTH, "Reason, kept in the list of acts.", load_default=None)


class RoleRefusal(OptionalBody):
    reason = PlainText(MAX_REASON_LENGTH, "Reason, shown to the account.", load_default=None)


class NewOrganiserRequest(Strict):
    text = PlainText(MAX_TEXT_LENGTH, "What you want to organise, on one line.", required=True)


class OrganiserRequestView(View):
    account = fields.String(attribute="account.id")
    name = fields.String(attribute="account.name")
    text = fields.String()
    created_at = UtcDateTime()
    refused_at = UtcDateTime("When the operator refused; null while it waits.", allow_none=True)
    reason = fields.String("Why the operator refused.", allow_none=True)


class ActFilterQuery(PageQuery):
    tournament = Id("trn", "Return only acts that concern this tournament.")
    account = Id("acc", "Return only acts of this account.")
    kind = fields.OneOf(list_act_kinds())


class ActFileQuery(ActFilterQuery):
    class Meta(ActFilterQuery.Meta):
        exclude = ("limit", "cursor")


class ActView(View):
    id = fields.Integer("Number in the order of acts.")
    at = UtcDateTime(attribute="created_at")
    account = fields.String("Null for the command line.", attribute="account_id", allow_none=True)
    account_name = fields.String("Name of the account at the time of the act.")
    kind = fields.OneOf(list_act_kinds())
    object = fields.String("Id of a tournament, bot, match, account or restored database.", attribute="object_id")
    tournament = fields.String(attribute="tournament_id", allow_none=True)
    reason = fields.String(allow_none=True)
    details = fields.Dict("More, depending on the kind.")
