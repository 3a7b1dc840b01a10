"""Define the schemas of results by opponent, of scores adjusted for luck, and of strengths."""

from api import fields
from api.fields import Exact, Rounded, View
from api.tournaments.standings_schemas import EXACT, EntrantView


class OpponentRecordView(View):
    bot = fields.String()
    matches = fields.Integer("Number of matches against this opponent.")
    points = fields.Float("Points against this opponent: one for each match finished ahead of it, half for a tie.")
    lead = fields.Integer("Number of matches finished ahead of this opponent minus those finished behind it.")


class CrosstableRow(EntrantView):
    opponents = fields.List(
        fields.Nested(OpponentRecordView), "Opponents that the bot has played, in the order of the standings."
    )


class MeanView(View):
    value = fields.Float()
    exact = Exact("value", metadata=EXACT)
    error = fields.Float("Standard error; null if there is only one deal group.", allow_none=True)


class LuckRow(EntrantView):
    points = fields.Nested(
        MeanView,
        "Points per match, relative to all bots with the same cards; null if no other bot had them.",
        attribute="adjusted.points",
        dump_default=None,
        allow_none=True,
    )
    returns = fields.Nested(
        MeanView,
        "Returns per match, relative to all bots with the same cards.",
        attribute="adjusted.returns",
        dump_default=None,
        allow_none=True,
    )
    matches = fields.Integer("Number of matches that could be compared.", attribute="adjusted.matches", dump_default=0)
    groups = fields.Integer("Number of deal groups of these matches.", attribute="adjusted.groups", dump_default=0)


class StrengthRow(View):
    rank = fields.Integer()
    bot = fields.String(attribute="id")
    name = fields.String()
    points = Rounded(
        2,
        "Estimated strength, on the scale of the anchors; without any, the mean is 1500. With 400 more, a bot wins "
        "ten times as often as it loses.",
    )
    low = Rounded(2, "Lower end of the 95 % interval.")
    high = Rounded(2, "Upper end of the 95 % interval.")
    se = Rounded(2, "Standard error of the strength.")
    matches = fields.Integer()
    superior_to_next = fields.Float(
        "Probability that the bot is stronger than the next one; null for the last bot.", allow_none=True
    )
    best_rank = fields.Integer("Best rank that is compatible with the intervals of all bots.")
    worst_rank = fields.Integer()


class StrengthsPage(View):
    as_of_seq = fields.Integer("Number of the last result included; for a ladder, of the last ledger entry.")
    results = fields.Integer("Number of results used for the estimate.")
    left_out = fields.Integer("Number of older results of a ladder that were left out.")
    converged = fields.Boolean("Whether the estimate converged to a hundredth of a point.")
    exact = fields.Boolean("Whether the standard errors are exact; false if there are too many bots.")
    items = fields.List(fields.Nested(StrengthRow), "Strengths, strongest first.")
    next = fields.String("The cursor of the next page; null on the last page.", allow_none=True)
