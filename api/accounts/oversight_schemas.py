"""Define the schemas of accounts as operators see them, of requests for the role of an organiser, and of acts."""

from marshmallow import fields

from api.accounts.schemas import AccountDeletion, AccountView
from api.fields import Id, Name, OptionalBody, PlainText, Strict, UtcDateTime, View, describe, member_of
from api.messages import Length
from api.pagination import PageQuery
from referee.accounts.act_kinds import list_act_kinds
from referee.accounts.organiser_requests import MAX_TEXT_LENGTH
from referee.accounts.roles import Role

MAX_REASON_LENGTH = 500
REASON = PlainText(MAX_REASON_LENGTH, required=True, metadata=describe("Reason, kept in the list of acts."))


class AccountQuery(PageQuery):
    name = fields.String(validate=Length(1, 64), metadata=describe("Part of the name, in any case."))


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
        MAX_REASON_LENGTH,
        required=True,
        metadata=describe("Reason, kept in the list of acts. It must not say who the owner is."),
    )


class RoleChange(OptionalBody):
    role = fields.String(
        required=True,
        validate=member_of(Role),
        metadata=describe("`organiser` or `owner`. The role `admin` is given on the command line only."),
    )
    reason = PlainText(MAX_REASON_LENGTH, load_default=None, metadata=describe("Reason, kept in the list of acts."))


class RoleRefusal(OptionalBody):
    reason = PlainText(MAX_REASON_LENGTH, load_default=None, metadata=describe("Reason, shown to the account."))


class NewOrganiserRequest(Strict):
    text = PlainText(MAX_TEXT_LENGTH, required=True, metadata=describe("What you want to organise, on one line."))


class OrganiserRequestView(View):
    account = fields.String(attribute="account.id")
    name = fields.String(attribute="account.name")
    text = fields.String()
    created_at = UtcDateTime()
    refused_at = UtcDateTime(allow_none=True, metadata=describe("When the operator refused; null while it waits."))
    reason = fields.String(allow_none=True, metadata=describe("Why the operator refused."))


class ActFilterQuery(PageQuery):
    tournament = Id("trn", metadata=describe("Return only acts that concern this tournament."))
    account = Id("acc", metadata=describe("Return only acts of this account."))
    kind = fields.String(validate=member_of(list_act_kinds()))


class ActFileQuery(ActFilterQuery):
    class Meta(ActFilterQuery.Meta):
        exclude = ("limit", "cursor")


class ActView(View):
    id = fields.Integer(metadata=describe("Number in the order of acts."))
    at = UtcDateTime(attribute="created_at")
    account = fields.String(attribute="account_id", allow_none=True, metadata=describe("Null for the command line."))
    account_name = fields.String(metadata=describe("Name of the account at the time of the act."))
    kind = fields.String(validate=member_of(list_act_kinds()))
    object = fields.String(
        attribute="object_id", metadata=describe("Id of a tournament, bot, match, account or restored database.")
    )
    tournament = fields.String(attribute="tournament_id", allow_none=True)
    reason = fields.String(allow_none=True)
    details = fields.Dict(metadata=describe("More, depending on the kind."))
