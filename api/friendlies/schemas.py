"""Define the schemas of the rules for friendlies, of listed accounts, and of requests for friendlies."""

from marshmallow import fields

from api.fields import OptionalBody, PlainText, QueryBool, Strict, UtcDateTime, View, describe, member_of
from api.matches.schemas import FriendlyTerms
from api.pagination import PageQuery
from referee.friendlies.states import Challengers, ChallengerVerdict, RequestState

MAX_REASON_LENGTH = 200


class RulesChanges(Strict):
    challengers = fields.String(
        required=True,
        validate=member_of(Challengers),
        metadata=describe(
            "`anyone`: friendlies are played immediately. `on_request`: those of accounts that you have accepted; "
            "you decide about each request of others. `listed`: only those of accounts that you have accepted. "
            "`nobody`: only your own."
        ),
    )


class RulesView(View):
    bot = fields.String()
    challengers = fields.String(validate=member_of(Challengers))
    text = fields.String(metadata=describe("The rules in a sentence for people."))
    obstacle = fields.String(
        allow_none=True,
        metadata=describe("Why your account cannot challenge the bot; null if it can, or without a token."),
    )
    may_request = fields.Boolean(metadata=describe("Whether your account can send a request instead."))


class NewChallenger(Strict):
    verdict = fields.String(required=True, validate=member_of(ChallengerVerdict))


class ChallengerView(View):
    account = fields.String(attribute="account_id")
    name = fields.String(allow_none=True)
    verdict = fields.String(validate=member_of(ChallengerVerdict))
    created_at = UtcDateTime()


class NewRequest(FriendlyTerms):
    """Accept the terms of a friendly to ask for."""


class RequestQuery(PageQuery):
    pending = QueryBool(metadata=describe("Whether the request can still be decided."))


class Decline(OptionalBody):
    reason = PlainText(
        MAX_REASON_LENGTH, allow_none=True, load_default=None, metadata=describe("A reason for the account that asked.")
    )


class RequestView(View):
    id = fields.String()
    created_by = fields.String()
    created_by_name = fields.String(allow_none=True)
    game = fields.String()
    bots = fields.List(fields.String(), metadata=describe("In order of seats."))
    bot_names = fields.List(fields.String())
    options = fields.Dict(keys=fields.String())
    budget_ms = fields.Integer()
    bank_ms = fields.Integer()
    state = fields.String(validate=member_of(RequestState))
    waits_for_you = fields.Boolean(metadata=describe("Whether you can accept or decline it."))
    reason = fields.String(allow_none=True, metadata=describe("Why it was declined, if the owner said so."))
    match = fields.String(attribute="match_id", allow_none=True)
    created_at = UtcDateTime()
    expires_at = UtcDateTime()
    decided_at = UtcDateTime(allow_none=True)
