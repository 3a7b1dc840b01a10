"""Define the schemas of the rules for friendlies, of listed accounts, and of requests for friendlies."""

import re
from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from api.fields import OptionalBody, PlainText, QueryBool, Strict, UtcDateTime, View, describe, member_of
from api.matches.schemas import FriendlyTerms
from api.messages import Length
from api.pagination import PageQuery
from referee.friendlies.rules import Hours, format_minute, parse_minute
from referee.friendlies.states import Challengers, ChallengerVerdict, RequestState

MAX_REASON_LENGTH = 200
TIME_OF_DAY = r"^([01][0-9]|2[0-3]):[0-5][0-9]\Z"


class TimeOfDay(fields.String):
    """Accept and serialise a minute of the day as text, such as 18:05."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            validate=validate.Regexp(re.compile(TIME_OF_DAY), error="Must be a time of the day such as 18:05."),
            metadata={"pattern": TIME_OF_DAY.replace(r"\Z", "$"), "example": "18:00"},
            **options,
        )


class HoursView(Strict):
    begin = TimeOfDay(required=True)
    end = TimeOfDay(required=True)
    time_zone = fields.String(
        required=True,
        validate=Length(1, 64),
        metadata=describe("Name of a time zone, such as Europe/Berlin.") | {"example": "Europe/Berlin"},
    )


class RulesChanges(Strict):
    challengers = fields.String(
        validate=member_of(Challengers),
        metadata=describe(
            "`anyone`: friendlies are played immediately. `on_request`: those of accounts that you have accepted; "
            "you decide about each request of others. `listed`: only those of accounts that you have accepted. "
            "`nobody`: only your own."
        ),
    )
    hours = fields.Nested(
        HoursView,
        allow_none=True,
        metadata=describe("Hours of the day in which friendlies may begin; they may cross midnight. Null for any."),
    )

    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("Give at least one field to change.")


class RulesView(View):
    bot = fields.String()
    challengers = fields.String(validate=member_of(Challengers))
    hours = fields.Nested(HoursView, allow_none=True)
    text = fields.String(metadata=describe("The rules in a sentence for people."))
    obstacle = fields.String(
        allow_none=True,
        metadata=describe("Why your account cannot challenge the bot now; null if it can, or without a token."),
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


def hours_to_json(hours: Hours | None) -> dict[str, str] | None:
    if hours is None:
        return None
    texts = {"begin": format_minute(hours.opens_at), "end": format_minute(hours.closes_at)}
    return {**texts, "time_zone": hours.time_zone}


def hours_from_json(given: dict[str, str] | None) -> Hours | None:
    if given is None:
        return None
    return Hours(parse_minute(given["begin"]), parse_minute(given["end"]), given["time_zone"])
