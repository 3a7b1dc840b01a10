"""Ladders: their lines, a bot's own place, and how its rating moved."""

from typing import Any

from marshmallow import fields, validate

from api.fields import Derived, Id, QueryInt, Rounded, Strict, UtcDateTime
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
    bot = Id("bot", attribute="bot_id", required=True)


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
    rank = fields.Integer(attribute="place", required=True, metadata={"description": "equal ratings share a rank"})
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
    place = fields.Integer(required=True, metadata={"description": "one more than bots with a better rating"})
    of = fields.Integer(required=True, metadata={"description": "bots on the ladder"})
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


class StrengthRow(Strict):
    rank = fields.Integer(required=True)
    bot = fields.String(attribute="id", required=True)
    name = fields.String(required=True)
    points = Rounded(
        2, required=True, metadata={"description": "1500 is the mean; 400 more win ten times as often as they lose"}
    )
    low = Rounded(2, required=True, metadata={"description": "of the 95 % interval"})
    high = Rounded(2, required=True)
    se = Rounded(2, required=True, metadata={"description": "standard error"})
    matches = fields.Integer(required=True)
    superior_to_next = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "probability that it is stronger than the next; null: it is the last"},
    )
    best_rank = fields.Integer(required=True, metadata={"description": "that the intervals of all leave open"})
    worst_rank = fields.Integer(required=True)


class StrengthsPage(Strict):
    as_of_seq = fields.Integer(required=True, metadata={"description": "the last result, of a ladder the last act"})
    results = fields.Integer(required=True, metadata={"description": "fitted"})
    left_out = fields.Integer(required=True, metadata={"description": "older results of a ladder"})
    converged = fields.Boolean(required=True, metadata={"description": "to a hundredth of a point"})
    exact = fields.Boolean(required=True, metadata={"description": "false: so many bots that errors are approximate"})
    items = fields.List(fields.Nested(StrengthRow), required=True, metadata={"description": "the strongest first"})
    next = fields.String(required=True, allow_none=True, metadata={"description": "cursor of the next page"})
