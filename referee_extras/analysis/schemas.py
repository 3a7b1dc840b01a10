"""Define the schemas of results by opponent, of scores adjusted for luck, and of strengths."""

from marshmallow import fields

from api.fields import Exact, Rounded, View, describe
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


class StrengthRow(View):
    rank = fields.Integer()
    bot = fields.String(attribute="id")
    name = fields.String()
    points = Rounded(
        2,
        metadata=describe(
            "Estimated strength, on the scale of the anchors; without any, the mean is 1500. With 400 more, a bot wins "
            "ten times as often as it loses."
        ),
    )
    low = Rounded(2, metadata=describe("Lower end of the 95 % interval."))
    high = Rounded(2, metadata=describe("Upper end of the 95 % interval."))
    se = Rounded(2, metadata=describe("Standard error of the strength."))
    matches = fields.Integer()
    superior_to_next = fields.Float(
        allow_none=True,
        metadata=describe("Probability that the bot is stronger than the next one; null for the last bot."),
    )
    best_rank = fields.Integer(metadata=describe("Best rank that is compatible with the intervals of all bots."))
    worst_rank = fields.Integer()


class StrengthsPage(View):
    as_of_seq = fields.Integer(
        metadata=describe("Number of the last result included; for a ladder, of the last ledger entry.")
    )
    results = fields.Integer(metadata=describe("Number of results used for the estimate."))
    left_out = fields.Integer(metadata=describe("Number of older results of a ladder that were left out."))
    converged = fields.Boolean(metadata=describe("Whether the estimate converged to a hundredth of a point."))
    exact = fields.Boolean(
        metadata=describe("Whether the standard errors are exact; false if there are too many bots.")
    )
    items = fields.List(fields.Nested(StrengthRow), metadata=describe("Strengths, strongest first."))
    next = fields.String(allow_none=True, metadata=describe("The cursor of the next page; null on the last page."))
