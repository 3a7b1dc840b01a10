"""Define the schemas of the rounds of a tournament: tables, byes, and the bracket of a knockout."""

from marshmallow import fields, validate

from api import doc
from api.fields import UtcDateTime, View, member_of
from api.matches.schemas import SeatView, UnratedReason
from referee.matches.states import MatchState
from referee.tournaments.states import RoundState

HIDDEN = "Id of the bot. In a rated, `anonymous` tournament, null until the table is over."


class RoundView(View):
    tournament_round = doc.integer("Number of the round, from 1.", attribute="number")
    label = doc.text("Label such as `semi_final`; often empty.")
    state = doc.text("State of the round. `decided`: no match has been created yet.", validate=member_of(RoundState))
    tables = fields.Integer()
    arranged = doc.integer("Number of tables whose first matches have been created.")
    matches = doc.integer("Number of matches created so far.")
    done = doc.integer("Number of matches that are over.")
    byes = fields.Integer()
    created_at = UtcDateTime()
    ended_at = UtcDateTime(allow_none=True)


class EntrantNameView(View):
    bot = doc.text(HIDDEN, null=True)
    name = fields.String(allow_none=True)


class ByeView(EntrantNameView):
    reason = doc.text(
        "Reason for the bye. `odd`: the number of entrants was odd; `walkover`: there was no opponent.",
        validate=validate.OneOf(["odd", "walkover"]),
    )


class TableMatchView(View):
    id = fields.String()
    leg = doc.integer("Number of the leg, from 1. With duplicate deals, each order of seats is a leg.")
    status = fields.String(validate=member_of(MatchState))
    reason = doc.text("Why the match does not count; null if it counts.", null=True)
    rated = fields.Boolean()
    unrated_reason = UnratedReason("Why the match is unrated; null if it is rated.")
    rematch_of = fields.String(allow_none=True)
    group_id = doc.text("Id of the deal group.")
    seats = fields.List(fields.Nested(SeatView))


class TableView(View):
    table = doc.integer("Number of the table, from 1.")
    label = doc.text("Label such as `final` or `third_place`; often empty.")
    over = doc.flag("Whether all matches created at the table are over.")
    legs = doc.integer("Number of matches planned at first, for each order of seats.")
    unrated_reason = UnratedReason(
        "Why the matches at this table are unrated, as far as known when it is paired; null if they are rated."
    )
    entrants = doc.listing("Entrants in the seating order of the first leg.", fields.Nested(EntrantNameView))
    matches = doc.listing("Matches in order of legs.", fields.Nested(TableMatchView))


class WholeRoundView(RoundView):
    bye_entrants = doc.listing(
        "The byes of the round, hidden until the round is over under the same conditions as entrants.",
        fields.Nested(ByeView),
    )
    items = doc.listing("Tables in order of their numbers.", fields.Nested(TableView))
    next = doc.text("The cursor of the next page; null on the last page.", null=True)


class OriginView(View):
    tournament_round = fields.Integer()
    table = doc.integer("Number of the table; null for a bye.", null=True)


class BracketSeedView(EntrantNameView):
    seed = doc.integer("Seed, from 1.", null=True)
    origin = doc.nested("The table or bye from which the entrant came; null in the first round.", OriginView, null=True)


class BracketEntrantView(BracketSeedView):
    points = doc.number("Points of all legs: one for each opponent beaten, half for a tie.", null=True)
    advanced = doc.flag(
        "Whether the entrant advances; in the final, true for the winner. Null while the table is in progress.",
        null=True,
    )


class BracketByeView(BracketSeedView):
    reason = fields.String()


class BracketTableView(View):
    table = fields.Integer()
    label = fields.String()
    legs = fields.Integer()
    entrants = doc.listing("Entrants, best first.", fields.Nested(BracketEntrantView))


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
    to_come = doc.listing("Rounds that are not paired yet.", fields.Nested(ToComeView))
