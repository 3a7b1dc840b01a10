"""Define the schemas of the rules for friendlies, of listed accounts, and of requests for friendlies."""

from api import fields
from api.fields import OptionalBody, PlainText, QueryBool, Strict, UtcDateTime, View
from api.matches.schemas import FriendlyTerms
from api.pagination import PageQuery
from referee.friendlies.states import Challengers, ChallengerVerdict, RequestState

MAX_REASON_LENGTH = 200


class RulesChanges(Strict):
    challengers = fields.OneOf(
        Challengers,
        "`anyone`: friendlies are played immediately. `on_request`: those of accounts that you have accepted; "
        "you decide about each request of others. `listed`: only those of accounts that you have accepted. "
        "`nobody`: only your own.",
        required=True,
    )


class RulesView(View):
    bot = fields.String()
    challengers = fields.OneOf(Challengers)
    text = fields.String("The rules in a sentence for people.")
    obstacle = fields.String(
        "Why your account cannot challenge the bot; null if it can, or without a token.", allow_none=True
    )
    may_request = fields.Boolean("Whether your account can send a request instead.")


class NewChallenger(Strict):
    verdict = fields.OneOf(ChallengerVerdict, required=True)


class ChallengerView(View):
    account = fields.String(attribute="account_id")
    name = fields.String(allow_none=True)
    verdict = fields.OneOf(ChallengerVerdict)
    created_at = UtcDateTime()


class NewRequest(FriendlyTerms):
    """Accept the terms of a friendly to ask for."""


class RequestQuery(PageQuery):
    pending = QueryBool("Whether the request can still be decided.")


class Decline(OptionalBody):
    reason = PlainText(MAX_REASON_LENGTH, "A reason for the account that asked.", allow_none=True, load_default=None)


class RequestView(View):
    id = fields.String()
    created_by = fields.String()
    created_by_name = fields.String(allow_none=True)
    game = fields.String()
    bots = fields.List(fields.String(), "In order of seats.")
    bot_names = fields.List(fields.String())
    options = fields.Dict(keys=fields.String())
    budget_ms = fields.Integer()
    bank_ms = fields.Integer()
    state = fields.OneOf(RequestState)
    waits_for_you = fields.Boolean("Whether you can accept or decline it.")
    reason = fields.String("Why it was declined, if the owner said so.", allow_none=True)
    match = fields.String(attribute="match_id", allow_none=True)
    created_at = UtcDateTime()
    expires_at = UtcDateTime()
    decided_at = UtcDateTime(allow_none=True)
