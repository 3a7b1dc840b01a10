"""Define the schemas of results by opponent and of scores adjusted for luck."""

from marshmallow import fields

from api.fields import Exact, View, describe
from api.tournaments.standings_schemas import EXACT, EntrantView


class OpponentRecordView(View):
    bot = fields.String()
    matches = fields.Integer(metadata=describe("Number of matches against this opponent."))
    points = fields.Float(
        metadata=describe("Points against this opponent: one for each match finished ahead of it, half for a tie.")
    )
    lead = fields.Integer(
        metadata=describe("Number of matches finished ahead of this opponent minus those finished behind it.")
    )


class CrosstableRow(EntrantView):
    opponents = fields.List(
        fields.Nested(OpponentRecordView),
        metadata=describe("Opponents that the bot has played, in the order of the standings."),
    )


class OpponentView(View):
    bot = fields.String()
    matches = fields.Integer()


class OpponentsRow(EntrantView):
    seats = fields.List(fields.Integer(), attribute="met.seats", metadata=describe("Number of matches in each seat."))
    opponents = fields.List(fields.Nested(OpponentView), metadata=describe("Opponents, most frequent first."))
    byes = fields.Integer(attribute="met.byes")


class MeanView(View):
    value = fields.Float()
    exact = Exact("value", metadata=EXACT)
    error = fields.Float(allow_none=True, metadata=describe("Standard error; null if there is only one deal group."))


class LuckRow(EntrantView):
    points = fields.Nested(
        MeanView,
        attribute="adjusted.points",
        dump_default=None,
        allow_none=True,
        metadata=describe("Points per match, relative to all bots with the same cards; null if no other bot had them."),
    )
    returns = fields.Nested(
        MeanView,
        attribute="adjusted.returns",
        dump_default=None,
        allow_none=True,
        metadata=describe("Returns per match, relative to all bots with the same cards."),
    )
    matches = fields.Integer(
        attribute="adjusted.matches", dump_default=0, metadata=describe("Number of matches that could be compared.")
    )
    groups = fields.Integer(
        attribute="adjusted.groups", dump_default=0, metadata=describe("Number of deal groups of these matches.")
    )
