"""Define the schemas of standings."""

from marshmallow import fields

from api import doc
from api.fields import Exact, View

AS_OF = "Number of the last result included; 0 for none. Results are numbered in the order in which matches end."
EXACT = {"description": "The exact value as a fraction.", "example": "13/2"}


class TieBreakView(View):
    name = fields.String(metadata={"example": "buchholz"})
    value = doc.number("Value of the tie-break; null if it does not apply.", null=True)
    exact = Exact("value", allow_none=True, metadata=EXACT)


class ErrorBarView(View):
    low = doc.number("Lower end of the 95 % interval; null if there are too few results.", null=True)
    high = fields.Float(allow_none=True)
    groups = doc.integer("Number of deal groups used. With fewer than eight, the interval is rough.")


class EntrantView(View):
    rank = doc.integer("Rank in the standings. Entrants that no tie-break separates share a rank.")
    bot = fields.String(attribute="entrant")
    name = fields.String(attribute="person.name")


class StandingsRow(EntrantView):
    owner = doc.text("Id of the owner's account.", attribute="person.owner")
    owner_name = doc.text("Public name of the owner.", attribute="person.owner_name")
    withdrawn = fields.Boolean(attribute="person.withdrawn")
    disqualification = doc.text(
        "Why the bot was disqualified, so that it is ranked after all others; null if it was not.",
        null=True,
        attribute="person.disqualification",
    )
    version_changed = doc.flag(
        "Whether the bot's version has changed since the start.", attribute="person.version_changed"
    )
    matches = fields.Integer()
    byes = fields.Integer()
    points = doc.number("Total points. A match is worth at most one point; a tie is worth half.")
    points_exact = Exact("points", metadata=EXACT)
    points_per_match = doc.number(
        "Points per match, without byes; null if no match was played.",
        null=True,
        attribute="error_bar.points_per_match",
    )
    error_bar = doc.nested("Confidence interval of the points per match.", ErrorBarView)
    wins = doc.integer("Number of matches won outright.")
    draws = doc.integer("Number of matches in which the bot shared the first place.")
    losses = doc.integer("Number of the other matches. Byes are none of the three.")
    returns = doc.integer("Total returns of all matches.")
    tie_breaks = doc.listing(
        "The tie-breaks of the format, in the order in which they apply.", fields.Nested(TieBreakView)
    )


class SnapshotView(View):
    as_of_seq = doc.integer(AS_OF)
    results = doc.integer("Number of results included.")


class StandingsPage(SnapshotView):
    samples = doc.integer("Number of bootstrap samples of each error bar.")
    items = fields.List(fields.Nested(StandingsRow))
    next = doc.text("The cursor of the next page; null on the last page.", null=True)


class OwnStandingView(SnapshotView):
    samples = doc.integer("Number of bootstrap samples of the error bar.")
    total = doc.integer("Number of rows in the standings.")
    row = fields.Nested(StandingsRow)
