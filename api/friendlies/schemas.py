"""Define the schemas of the rules for friendlies, of listed accounts, and of requests for friendlies."""

import re
from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, post_load

from api import fields
from api.fields import Changes, OptionalBody, PlainText, QueryBool, Strict, UtcDateTime, View
from api.matches.schemas import FriendlyTerms
from api.messages import Length
from api.pagination import PageQuery
from referee.friendlies.rules import Hours, format_minute, parse_minute
from referee.friendlies.states import Challengers, ChallengerVerdict, RequestState

MAX_REASON_LENGTH = 200
TIME_OF_DAY = r"^([01][0-9]|2[0-3]):[0-5][0-9]\Z"


class TimeOfDay(fields.String):
    """Accept and serialise a minute of the day as text, such as 18:05."""

    documented: Mapping[str, Any] = {"pattern": TIME_OF_DAY.replace(r"\Z", "$"), "example": "18:00"}

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str:
        return format_minute(value)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not re.match(TIME_OF_DAY, text):
            raise ValidationError("Must be a time of the day such as 18:05.")
        return parse_minute(text)


class HoursView(Strict):
    begin = TimeOfDay(attribute="opens_at", required=True)
    end = TimeOfDay(attribute="closes_at", required=True)
    time_zone = fields.String(
        "Name of a time zone, such as Europe/Berlin.",
        required=True,
        validate=Length(1, 64),
        metadata={"example": "Europe/Berlin"},
    )

    @post_load
    def make_hours(self, given: dict[str, Any], **_: object) -> Hours:
        return Hours(**given)


class RulesChanges(Changes):
    challengers = fields.OneOf(
        Challengers,
        "`anyone`: friendlies are played immediately. `on_request`: those of accounts that you have accepted; "
        "you decide about each request of others. `listed`: only those of accounts that you have accepted. "
        "`nobody`: only your own.",
    )
    hours = fields.Nested(
        HoursView,
        "Hours of the day in which friendlies may begin; they may cross midnight. Null for any.",
        allow_none=True,
    )


class RulesView(View):
    bot = fields.String()
    challengers = fields.OneOf(Challengers)
    hours = fields.Nested(HoursView, allow_none=True)
    text = fields.String("The rules in a sentence for people.")
    obstacle = fields.String(
        "Why your account cannot challenge the bot now; null if it can, or without a token.", allow_none=True
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
