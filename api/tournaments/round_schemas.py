"""Schemas of the rounds of a tournament: tables, byes, and the bracket of a knockout."""

from marshmallow import fields, validate

from api.fields import UtcDateTime, View, describe, member_of
from api.matches.schemas import SeatView, UnratedReason
from referee.matches.states import MatchState
from referee.tournaments.states import RoundState

HIDDEN = "null while it is hidden who plays: in rated matches of an `anonymous` tournament, until the table is over"


class RoundView(View):
    tournament_round = fields.Integer(attribute="number", metadata=describe("Number, from 1."))
    label = fields.String(metadata=describe("Such as semi_final; often empty."))
    state = fields.String(validate=member_of(RoundState), metadata=describe("decided: no match is arranged yet"))
    tables = fields.Integer()
    arranged = fields.Integer(metadata=describe("Tables whose first matches have been created."))
    matches = fields.Integer(metadata=describe("Matches created so far."))
    done = fields.Integer(metadata=describe("Matches that are over."))
    byes = fields.Integer()
    created_at = UtcDateTime()
    ended_at = UtcDateTime(allow_none=True)


class PlaceView(View):
    bot = fields.String(allow_none=True, metadata=describe(HIDDEN))
    name = fields.String(allow_none=True)


class ByeView(PlaceView):
    reason = fields.String(
        validate=validate.OneOf(["odd", "walkover"]),
        metadata=describe("odd: the number of entrants was odd; walkover: there was no opponent."),
    )


class TableMatchView(View):
    id = fields.String()
    leg = fields.Integer(metadata=describe("Number, from 1; in duplicate deals, one for each order of seats."))
    status = fields.String(validate=member_of(MatchState))
    reason = fields.String(allow_none=True, metadata=describe("Why it does not count."))
    rated = fields.Boolean()
    unrated_reason = UnratedReason("why it is unrated; null if it is rated")
    rematch_of = fields.String(allow_none=True)
    group_id = fields.String(metadata=describe("Its deal group."))
    seats = fields.List(fields.Nested(SeatView))


class TableView(View):
    table = fields.Integer(metadata=describe("Number, from 1."))
    label = fields.String(metadata=describe("Such as final or third_place; often empty."))
    over = fields.Boolean(metadata=describe("Whether all its matches so far are over."))
    legs = fields.Integer(metadata=describe("Matches planned at first, for each order of seats."))
    unrated_reason = UnratedReason("why its matches are unrated, as far as known when the table is paired")
    entrants = fields.List(fields.Nested(PlaceView), metadata=describe("In the seating order of the first leg."))
    matches = fields.List(fields.Nested(TableMatchView), metadata=describe("In order of legs."))


class WholeRoundView(RoundView):
    resting = fields.List(fields.Nested(ByeView), metadata=describe("the byes; told when the tables are"))
    items = fields.List(fields.Nested(TableView), metadata=describe("Tables in order of their numbers."))
    next = fields.String(allow_none=True, metadata=describe("The next page's cursor; null at the end."))


class OriginView(View):
    tournament_round = fields.Integer()
    table = fields.Integer(allow_none=True, metadata=describe("Null for a bye."))


class BracketPlaceView(PlaceView):
    seed = fields.Integer(allow_none=True, metadata=describe("Seed, from 1."))
    origin = fields.Nested(
        OriginView, allow_none=True, metadata=describe("The table or bye it came from; null in the first round.")
    )


class BracketEntrantView(BracketPlaceView):
    points = fields.Float(
        allow_none=True, metadata=describe("Points of all legs: one for each opponent beaten, half for a tie.")
    )
    advanced = fields.Boolean(
        allow_none=True, metadata=describe("Null while the table is in progress; in the final, true for the winner.")
    )


class BracketByeView(BracketPlaceView):
    reason = fields.String()


class BracketTableView(View):
    table = fields.Integer()
    label = fields.String()
    legs = fields.Integer()
    entrants = fields.List(fields.Nested(BracketEntrantView), metadata=describe("Best first."))


class BracketRoundView(View):
    tournament_round = fields.Integer()
    label = fields.String()
    state = fields.String(validate=validate.OneOf(["playing", "over"]))
    tables = fields.List(fields.Nested(BracketTableView))
    byes = fields.List(fields.Nested(BracketByeView))


class ToComeView(View):
    label = fields.String()
    tables = fields.Integer()


class BracketView(View):
    rounds = fields.List(fields.Nested(BracketRoundView))
    to_come = fields.List(fields.Nested(ToComeView), metadata=describe("rounds not decided yet"))
