"""Bots: what anybody sees of one, what its owner sees besides, and why it waits."""

from marshmallow import ValidationError, fields, validate, validates_schema

from api.pagination import PageQuery
from api.schemas.base import Address, Id, Moment, Name, Strict
from referee.store.play.waiting import REASONS
from referee.store.schema import BOT_STATES, CHECK_STATES


class NewBot(Strict):
    name = Name(required=True)
    url = Address(required=True)


class BotChanges(Strict):
    name = Name()
    url = Address(metadata={"description": "another address must prove itself again: the bot is unverified until then"})

    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("give at least one field to change")


class BotQuery(PageQuery):
    owner = Id("acc", metadata={"description": "only the bots of this account"})
    status = fields.String(validate=validate.OneOf(BOT_STATES))


class BotView(Strict):
    id = fields.String(required=True)
    name = fields.String(required=True)
    owner = fields.String(required=True, metadata={"description": "id of the account"})
    status = fields.String(required=True, validate=validate.OneOf(BOT_STATES))
    version = fields.String(required=True, allow_none=True, metadata={"description": "as the bot declares it"})
    games = fields.List(fields.String(), required=True, metadata={"description": "as the bot declares them"})
    max_calls = fields.Integer(required=True, metadata={"description": "calls it takes at once, as it declares"})
    created_at = Moment(required=True)


class OwnBotView(BotView):
    """The last fields are there for the owner alone."""

    url = fields.String()
    proven_url = fields.String(allow_none=True, metadata={"description": "the address that answered the challenge"})
    status_reason = fields.String(allow_none=True)
    check = fields.Nested(
        lambda: CheckView(), metadata={"description": "the last challenge and what was wrong with its answer"}
    )
    previous_secret_until = Moment(allow_none=True, metadata={"description": "until then both secrets sign"})


class CheckView(Strict):
    state = fields.String(required=True, validate=validate.OneOf(CHECK_STATES))
    checked_at = Moment(required=True, allow_none=True)
    report = fields.Dict(required=True, allow_none=True)


class SecretBotView(OwnBotView):
    secret = fields.String(required=True, metadata={"description": "whsec_…: signs every call; shown this once"})


class ReasonView(Strict):
    code = fields.String(
        required=True, validate=validate.OneOf(list(REASONS)), metadata={"description": "a closed list"}
    )
    text = fields.String(required=True, metadata={"description": "for people"})
    ahead = fields.Integer(required=True, allow_none=True, metadata={"description": "matches that come before it"})
    seat = fields.Integer(required=True, allow_none=True, metadata={"description": "of the rival that is full"})
    stage = fields.Integer(required=True, allow_none=True, metadata={"description": "from which it plays"})


class OpenMatchView(Strict):
    match = fields.String(required=True)
    tournament = fields.String(required=True, allow_none=True)
    position = fields.Integer(
        required=True, allow_none=True, metadata={"description": "among all matches that are due, from 1"}
    )
    reason = fields.Nested(ReasonView, required=True, allow_none=True, metadata={"description": "null: it is played"})


class OpenEventView(Strict):
    tournament = fields.String(required=True)
    reason = fields.Nested(ReasonView, required=True)


class WaitingView(Strict):
    bot = fields.String(required=True)
    playing = fields.Integer(required=True, metadata={"description": "matches of it that are being played"})
    open = fields.Integer(required=True, metadata={"description": "matches of it that are not over"})
    reason = fields.Nested(
        ReasonView, required=True, allow_none=True, metadata={"description": "what matters most; null while it plays"}
    )
    matches = fields.List(
        fields.Nested(OpenMatchView), required=True, metadata={"description": "the first 20 of those not over"}
    )
    events = fields.List(
        fields.Nested(OpenEventView), required=True, metadata={"description": "in which it has no match just now"}
    )
