"""Define the schemas of the rounds of a tournament: tables, byes, and the bracket of a knockout."""

from api import fields
from api.matches.schemas import SeatView, UnratedReason
from referee.matches.states import MatchState
from referee.tournaments.states import RoundState

HIDDEN = "Id of the bot. In a rated, `anonymous` tournament, null until the table is over."


class RoundView(fields.View):
    tournament_round = fields.Integer("Number of the round, from 1.", attribute="number")
    label = fields.String("Label such as `semi_final`; often empty.")
    state = fields.OneOf(RoundState, "State of the round. `decided`: no match has been created yet.")
    tables = fields.Integer()
    arranged = fields.Integer("Number of tables whose first matches have been created.")
    matches = fields.Integer("Number of matches created so far.")
    done = fields.Integer("Number of matches that are over.")
    byes = fields.Integer()
    created_at = fields.UtcDateTime()
    ended_at = fields.UtcDateTime(allow_none=True)


class EntrantNameView(fields.View):
    bot = fields.String(HIDDEN, allow_none=True)
    name = fields.String(allow_none=True)


class ByeView(EntrantNameView):
    reason = fields.OneOf(
        ["odd", "walkover"],
        "Reason for the bye. `odd`: the number of entrants was odd; `walkover`: there was no opponent.",
    )


class TableMatchView(fields.View):
    id = fields.String()
    leg = fields.Integer("Number of the leg, from 1. With duplicate deals, each order of seats is a leg.")
    status = fields.OneOf(MatchState)
    reason = fields.String("Why the match does not count; null if it counts.", allow_none=True)
    rated = fields.Boolean()
    unrated_reason = UnratedReason("Why the match is unrated; null if it is rated.")
    rematch_of = fields.String(allow_none=True)
    group_id = fields.String("Id of the deal group.")
    seats = fields.List(fields.Nested(SeatView))


class TableView(fields.View):
    table = fields.Integer("Number of the table, from 1.")
    label = fields.String("Label such as `final` or `third_place`; often empty.")
    over = fields.Boolean("Whether all matches created at the table are over.")
    legs = fields.Integer("Number of matches planned at first, for each order of seats.")
    unrated_reason = UnratedReason(
        "Why the matches at this table are unrated, as far as known when it is paired; null if they are rated."
    )
    entrants = fields.List(fields.Nested(EntrantNameView), "Entrants in the seating order of the first leg.")
    matches = fields.List(fields.Nested(TableMatchView), "Matches in order of legs.")


class WholeRoundView(RoundView):
    bye_entrants = fields.List(
        fields.Nested(ByeView),
        "The byes of the round, hidden until the round is over under the same conditions as entrants.",
    )
    items = fields.List(fields.Nested(TableView), "Tables in order of their numbers.")
    next = fields.String("The cursor of the next page; null on the last page.", allow_none=True)


class OriginView(fields.View):
    tournament_round = fields.Integer()
    table = fields.Integer("Number of the table; null for a bye.", allow_none=True)


class BracketSeedView(EntrantNameView):
    seed = fields.Integer("Seed, from 1.", allow_none=True)
    origin = fields.Nested(
        OriginView, "The table or bye from which the entrant came; null in the first round.", allow_none=True
    )


class BracketEntrantView(BracketSeedView):
    points = fields.Float("Points of all legs: one for each opponent beaten, half for a tie.", allow_none=True)
    advanced = fields.Boolean(
        "Whether the entrant advances; in the final, true for the winner. Null while the table is in progress.",
        allow_none=True,
    )


class BracketByeView(BracketSeedView):
    reason = fields.String()


class BracketTableView(fields.View):
    table = fields.Integer()
    label = fields.String()
    legs = fields.Integer()
    entrants = fields.List(fields.Nested(BracketEntrantView), "Entrants, best first.")


class BracketRoundView(fields.View):
    tournament_round = fields.Integer()
    label = fields.String()
    state = fields.OneOf(["playing", "over"])
    tables = fields.List(fields.Nested(BracketTableView))
    byes = fields.List(fields.Nested(BracketByeView))


class ToComeView(fields.View):
    label = fields.String()
    tables = fields.Integer()


class BracketView(fields.View):
    rounds = fields.List(fields.Nested(BracketRoundView))
    to_come = fields.List(fields.Nested(ToComeView), "Rounds that are not paired yet.")
