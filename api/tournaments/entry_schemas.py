"""Entries of a tournament: who takes part, and how its bot did before the start."""

from marshmallow import fields, validate

from api.fields import Id, Strict, StrictInt, UtcDateTime
from api.pagination import PageQuery
from referee.tournaments.entries import MAX_SEED
from referee.tournaments.tables import PREFLIGHTS


class NewEntry(Strict):
    bot = Id("bot", required=True)
    seed = StrictInt(
        low=1, high=MAX_SEED, metadata={"description": "set by hand, 1 is the strongest; for its organiser"}
    )


class Withdrawal(Strict):
    bot = Id("bot", required=True)


class Seeds(Strict):
    seeds = fields.Dict(
        keys=Id("bot"),
        values=StrictInt(low=1, high=MAX_SEED, allow_none=True),
        required=True,
        validate=validate.Length(min=1),
        metadata={"description": "by bot: 1 is the strongest, null leaves it to the rating; others keep theirs"},
    )


class EntryQuery(PageQuery):
    preflight = fields.String(
        validate=validate.OneOf(PREFLIGHTS), metadata={"description": "only those of this preflight"}
    )


class EntryView(Strict):
    number = fields.Integer(required=True, metadata={"description": "in the order of entry, from 0"})
    bot = fields.String(attribute="bot_id", required=True)
    name = fields.String(attribute="bot.name", required=True)
    owner = fields.String(attribute="bot.owner_id", required=True)
    seed = fields.Integer(required=True, allow_none=True, metadata={"description": "set by hand"})
    first_round = fields.Integer(required=True, metadata={"description": "the first stage it may play in"})
    preflight = fields.String(
        required=True,
        validate=validate.OneOf(PREFLIGHTS),
        metadata={"description": "how its bot did when it was called before the start; none: it was not called yet"},
    )
    preflight_reason = fields.String(
        attribute="told_reason",
        required=True,
        allow_none=True,
        metadata={"description": "why it is absent; told to its owner and to organisers"},
    )
    substitute = fields.String(
        attribute="substitute_id",
        required=True,
        allow_none=True,
        metadata={"description": "id of the house bot that plays its seats now"},
    )
    version = fields.String(required=True, allow_none=True, metadata={"description": "of the bot at its start here"})
    version_changed_at = UtcDateTime(
        required=True, allow_none=True, metadata={"description": "when another version of it was seen first"}
    )
    withdrawn_at = UtcDateTime(required=True, allow_none=True)
