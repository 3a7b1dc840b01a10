"""Define the schemas of standings."""

from marshmallow import fields

from api.fields import Exact, View, describe

AS_OF = "Number of the last result included; 0 for none. Results are numbered in the order in which matches end."
EXACT = {"description": "The exact value as a fraction.", "example": "13/2"}


class TieBreakView(View):
    name = fields.String(metadata={"example": "buchholz"})
    value = fields.Float(allow_none=True, metadata=describe("Value of the tie-break; null if it does not apply."))
    exact = Exact("value", allow_none=True, metadata=EXACT)


class ErrorBarView(View):
    low = fields.Float(
        allow_none=True, metadata=describe("Lower end of the 95 % interval; null if there are too few results.")
    )
    high = fields.Float(allow_none=True)
    groups = fields.Integer(
        metadata=describe("Number of deal groups used. With fewer than eight, the interval is rough.")
    )


class EntrantView(View):
    rank = fields.Integer(
        metadata=describe("Rank in the standings. Entrants that no tie-break separates share a rank.")
    )
    bot = fields.String(attribute="entrant")
    name = fields.String(attribute="person.name")


class StandingsRow(EntrantView):
    owner = fields.String(attribute="person.owner", metadata=describe("Id of the owner's account."))
    owner_name = fields.String(attribute="person.owner_name", metadata=describe("Public name of the owner."))
    withdrawn = fields.Boolean(attribute="person.withdrawn")
    disqualification = fields.String(
        attribute="person.disqualification",
        allow_none=True,
        metadata=describe("Why the bot was disqualified, so that it is ranked after all others; null if it was not."),
    )
    version_changed = fields.Boolean(
        attribute="person.version_changed", metadata=describe("Whether the bot's version has changed since the start.")
    )
    matches = fields.Integer()
    byes = fields.Integer()
    points = fields.Float(metadata=describe("Total points. A match is worth at most one point; a tie is worth half."))
    points_exact = Exact("points", metadata=EXACT)
    points_per_match = fields.Float(
        attribute="error_bar.points_per_match",
        allow_none=True,
        metadata=describe("Points per match, without byes; null if no match was played."),
    )
    error_bar = fields.Nested(ErrorBarView, metadata=describe("Confidence interval of the points per match."))
    wins = fields.Integer(metadata=describe("Number of matches won outright."))
    draws = fields.Integer(metadata=describe("Number of matches in which the bot shared the first place."))
    losses = fields.Integer(metadata=describe("Number of the other matches. Byes are none of the three."))
    returns = fields.Integer(metadata=describe("Total returns of all matches."))
    tie_breaks = fields.List(
        fields.Nested(TieBreakView),
        metadata=describe("The tie-breaks of the format, in the order in which they apply."),
    )


class SnapshotView(View):
    as_of_seq = fields.Integer(metadata=describe(AS_OF))
    results = fields.Integer(metadata=describe("Number of results included."))


class StandingsPage(SnapshotView):
    samples = fields.Integer(metadata=describe("Number of bootstrap samples of each error bar."))
    items = fields.List(fields.Nested(StandingsRow))
    next = fields.String(allow_none=True, metadata=describe("The cursor of the next page; null on the last page."))


class OwnStandingView(SnapshotView):
    samples = fields.Integer(metadata=describe("Number of bootstrap samples of the error bar."))
    total = fields.Integer(metadata=describe("Number of rows in the standings."))
    row = fields.Nested(StandingsRow)
