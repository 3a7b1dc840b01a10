"""Stages of a tournament: tables, byes, and the bracket of a knockout."""

from marshmallow import fields, validate

from api.fields import Strict, UtcDateTime, member_of
from api.matches.schemas import SeatView, UnratedReason
from referee.matches.states import MatchState
from referee.tournaments.states import RoundState

HIDDEN = "null while it is hidden who plays: in rated matches of an `anonymous` tournament, until the table is over"


class StageView(Strict):
    stage = fields.Integer(attribute="number", required=True, metadata={"description": "from 1"})
    label = fields.String(required=True, metadata={"description": "such as semi_final; often empty"})
    state = fields.String(
        required=True,
        validate=member_of(RoundState),
        metadata={"description": "decided: no match is arranged yet"},
    )
    tables = fields.Integer(required=True)
    arranged = fields.Integer(required=True, metadata={"description": "tables whose first matches there are"})
    matches = fields.Integer(required=True, metadata={"description": "arranged so far"})
    done = fields.Integer(required=True, metadata={"description": "matches that are over"})
    byes = fields.Integer(required=True)
    created_at = UtcDateTime(required=True)
    ended_at = UtcDateTime(required=True, allow_none=True)


class PlaceView(Strict):
    bot = fields.String(required=True, allow_none=True, metadata={"description": HIDDEN})
    name = fields.String(required=True, allow_none=True)


class ByeView(PlaceView):
    reason = fields.String(
        required=True,
        validate=validate.OneOf(["odd", "walkover"]),
        metadata={"description": "odd: no table was left; walkover: no opponent was left"},
    )


class TableMatchView(Strict):
    id = fields.String(required=True)
    leg = fields.Integer(required=True, metadata={"description": "from 1; in duplicate deals one for each order"})
    status = fields.String(required=True, validate=member_of(MatchState))
    reason = fields.String(required=True, allow_none=True, metadata={"description": "why it does not count"})
    rated = fields.Boolean(required=True)
    unrated_reason = UnratedReason("why it is unrated; null if it is rated")
    rematch_of = fields.String(required=True, allow_none=True)
    group_id = fields.String(required=True, metadata={"description": "its deal group"})
    seats = fields.List(fields.Nested(SeatView), required=True)


class TableView(Strict):
    table = fields.Integer(required=True, metadata={"description": "from 1"})
    label = fields.String(required=True, metadata={"description": "such as final, third_place; often empty"})
    over = fields.Boolean(required=True, metadata={"description": "whether all its matches so far are"})
    legs = fields.Integer(required=True, metadata={"description": "matches (with each order) arranged at first"})
    unrated_reason = UnratedReason("why its matches are unrated, as far as known when the table is paired")
    entrants = fields.List(
        fields.Nested(PlaceView), required=True, metadata={"description": "by seat of the first leg"}
    )
    matches = fields.List(fields.Nested(TableMatchView), required=True, metadata={"description": "by leg"})


class WholeStageView(StageView):
    resting = fields.List(
        fields.Nested(ByeView), required=True, metadata={"description": "the byes; told when the tables are"}
    )
    items = fields.List(fields.Nested(TableView), required=True, metadata={"description": "tables, in their order"})
    next = fields.String(required=True, allow_none=True, metadata={"description": "cursor of the next page"})


class OriginView(Strict):
    stage = fields.Integer(required=True)
    table = fields.Integer(required=True, allow_none=True, metadata={"description": "null: a bye"})


class BracketPlaceView(PlaceView):
    seed = fields.Integer(required=True, allow_none=True, metadata={"description": "place in the drawing, from 1"})
    origin = fields.Nested(
        OriginView, required=True, allow_none=True, metadata={"description": "where it came from; null at first"}
    )


class BracketEntrantView(BracketPlaceView):
    points = fields.Float(
        required=True, allow_none=True, metadata={"description": "rivals left behind over all legs, a tie a half"}
    )
    advanced = fields.Boolean(
        required=True, allow_none=True, metadata={"description": "null while it is played; of the final: who won"}
    )


class BracketByeView(BracketPlaceView):
    reason = fields.String(required=True)


class BracketTableView(Strict):
    table = fields.Integer(required=True)
    label = fields.String(required=True)
    legs = fields.Integer(required=True)
    entrants = fields.List(fields.Nested(BracketEntrantView), required=True, metadata={"description": "best first"})


class BracketStageView(Strict):
    stage = fields.Integer(required=True)
    label = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf([RoundState.PLAYING.value, RoundState.OVER.value]))
    tables = fields.List(fields.Nested(BracketTableView), required=True)
    byes = fields.List(fields.Nested(BracketByeView), required=True)


class ToComeView(Strict):
    label = fields.String(required=True)
    tables = fields.Integer(required=True)


class BracketView(Strict):
    stages = fields.List(fields.Nested(BracketStageView), required=True)
    to_come = fields.List(fields.Nested(ToComeView), required=True, metadata={"description": "stages not decided yet"})
