"""Ladders: their lines, a bot's own place, and how its rating moved."""

from typing import Any

from marshmallow import fields, validate

from api.fields import Derived, Id, QueryInt, Strict, UtcDateTime
from api.games.schemas import GAMES
from api.pagination import PageQuery
from referee.bots.tables import BOT_STATES
from referee.ladders.tables import ACTS
from referee.ratings.elo import MICRO

LAST_ACT = 999_999_999


def points(micro: int) -> float:
    """Return a rating in points, to one decimal."""
    return round(micro / MICRO, 1)


class Points(Derived, fields.Float):
    """A rating, kept in millionths of a point, going out in points."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> float:
        return points(value)


class Micro(Derived, fields.Integer):
    """A rating going out exactly, in millionths of a point."""


class LadderQuery(PageQuery):
    game = fields.String(validate=validate.OneOf(GAMES))


class StandingQuery(PageQuery):
    as_of = QueryInt(
        low=0, high=LAST_ACT, metadata={"description": "the ladder as it stood after this act, an `as_of_seq`"}
    )


class HistoryQuery(PageQuery):
    bot = Id("bot", required=True)


class LadderView(Strict):
    id = fields.String(required=True)
    game = fields.String(required=True)
    options = fields.Dict(required=True)
    seats = fields.Integer(required=True)
    created_at = UtcDateTime(required=True)
    frozen_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "what an audit found wrong: values wait until it is repaired; null: nothing"},
    )


class LadderRow(Strict):
    rank = fields.Integer(required=True, metadata={"description": "equal ratings share a rank"})
    bot = fields.String(attribute="bot_id", required=True)
    name = fields.String(required=True)
    owner = fields.String(attribute="owner_id", required=True)
    status = fields.String(required=True, validate=validate.OneOf(BOT_STATES))
    rating = Points("value", required=True, metadata={"description": "points, to one decimal"})
    rating_micro = Micro("value", required=True, metadata={"description": "exactly, in millionths of a point"})
    games = fields.Integer(required=True)


class StandingLadderView(LadderView):
    as_of_seq = fields.Integer(
        required=True, metadata={"description": "the last act that counts here; the same on pages that fit together"}
    )
    items = fields.List(fields.Nested(LadderRow), required=True)
    next = fields.String(required=True, allow_none=True, metadata={"description": "cursor of the next page"})


class PlaceOnLadderView(Strict):
    as_of_seq = fields.Integer(
        attribute="last_seq", required=True, metadata={"description": "the last act of the ladder"}
    )
    place = fields.Integer(
        attribute="rank", required=True, metadata={"description": "one more than bots with a better rating"}
    )
    of = fields.Integer(attribute="total", required=True, metadata={"description": "bots on the ladder"})
    bot = fields.String(attribute="bot.id", required=True)
    name = fields.String(attribute="bot.name", required=True)
    owner = fields.String(attribute="bot.owner_id", required=True)
    status = fields.String(attribute="bot.status", required=True, validate=validate.OneOf(BOT_STATES))
    rating = Points("value", required=True, metadata={"description": "points, to one decimal"})
    rating_micro = Micro("value", required=True, metadata={"description": "exactly, in millionths of a point"})
    games = fields.Integer(required=True)
    changed_seq = fields.Integer(
        attribute="as_of_seq", required=True, metadata={"description": "the last act that moved it"}
    )


class RatingChangeView(Strict):
    seq = fields.Integer(required=True, metadata={"description": "number of the act in the ledger"})
    kind = fields.String(
        required=True,
        validate=validate.OneOf(ACTS),
        metadata={"description": "a result that counts from now on, one that counts no more, or a repair"},
    )
    match = fields.String(
        attribute="match_id", required=True, allow_none=True, metadata={"description": "null: a repair"}
    )
    reason = fields.String(required=True, allow_none=True, metadata={"description": "of a void or a repair"})
    at = UtcDateTime(required=True)
    games = fields.Integer(required=True, metadata={"description": "that count for the bot after it"})
    version = fields.String(required=True, allow_none=True, metadata={"description": "of the bot in that match"})
    version_changed = fields.Boolean(required=True, metadata={"description": "it is another than in the result before"})
    before = Points("before", required=True)
    before_micro = Micro("before", required=True)
    after = Points("after", required=True)
    after_micro = Micro("after", required=True)
