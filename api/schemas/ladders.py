"""Ladders: their lines and how a bot's rating moved."""

from marshmallow import fields, validate

from api.pagination import PageQuery
from api.schemas.base import Id, Moment, Strict
from api.schemas.games import GAMES
from referee.store.schema import BOT_STATES


class LadderQuery(PageQuery):
    game = fields.String(validate=validate.OneOf(GAMES))


class HistoryQuery(PageQuery):
    bot = Id("bot", required=True)


class LadderView(Strict):
    id = fields.String(required=True)
    game = fields.String(required=True)
    options = fields.Dict(required=True)
    seats = fields.Integer(required=True)
    created_at = Moment(required=True)


class LadderRow(Strict):
    rank = fields.Integer(required=True, metadata={"description": "equal ratings share a rank"})
    bot = fields.String(required=True)
    name = fields.String(required=True)
    owner = fields.String(required=True)
    status = fields.String(required=True, validate=validate.OneOf(BOT_STATES))
    rating = fields.Float(required=True, metadata={"description": "points, to one decimal"})
    rating_micro = fields.Integer(required=True, metadata={"description": "exactly, in millionths of a point"})
    games = fields.Integer(required=True)


class StandingLadderView(LadderView):
    as_of_seq = fields.Integer(
        required=True, metadata={"description": "the last result that counts here; the same on pages that fit together"}
    )
    items = fields.List(fields.Nested(LadderRow), required=True)
    next = fields.String(required=True, allow_none=True, metadata={"description": "cursor of the next page"})


class RatingChangeView(Strict):
    seq = fields.Integer(required=True, metadata={"description": "number of the result"})
    before = fields.Float(required=True)
    before_micro = fields.Integer(required=True)
    after = fields.Float(required=True)
    after_micro = fields.Integer(required=True)
