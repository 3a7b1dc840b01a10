"""Define the schemas of standings."""

from api import fields

AS_OF = "Number of the last result included; 0 for none. Results are numbered in the order in which matches end."
EXACT = {"description": "The exact value as a fraction.", "example": "13/2"}


class TieBreakView(fields.View):
    name = fields.String(metadata={"example": "buchholz"})
    value = fields.Float("Value of the tie-break; null if it does not apply.", allow_none=True)
    exact = fields.Exact("value", allow_none=True, metadata=EXACT)


class ErrorBarView(fields.View):
    low = fields.Float("Lower end of the 95 % interval; null if there are too few results.", allow_none=True)
    high = fields.Float(allow_none=True)
    groups = fields.Integer("Number of deal groups used. With fewer than eight, the interval is rough.")


class EntrantView(fields.View):
    rank = fields.Integer("Rank in the standings. Entrants that no tie-break separates share a rank.")
    bot = fields.String(attribute="entrant")
    name = fields.String(attribute="person.name")


class StandingsRow(EntrantView):
    owner = fields.String("Id of the owner's account.", attribute="person.owner")
    owner_name = fields.String("Public name of the owner.", attribute="person.owner_name")
    withdrawn = fields.Boolean(attribute="person.withdrawn")
    disqualification = fields.String(
        "Why the bot was disqualified, so that it is ranked after all others; null if it was not.",
        allow_none=True,
        attribute="person.disqualification",
    )
    version_changed = fields.Boolean(
        "Whether the bot's version has changed since the start.", attribute="person.version_changed"
    )
    matches = fields.Integer()
    byes = fields.Integer()
    points = fields.Float("Total points. A match is worth at most one point; a tie is worth half.")
    points_exact = fields.Exact("points", metadata=EXACT)
    points_per_match = fields.Float(
        "Points per match, without byes; null if no match was played.",
        allow_none=True,
        attribute="error_bar.points_per_match",
    )
    error_bar = fields.Nested(ErrorBarView, "Confidence interval of the points per match.")
    wins = fields.Integer("Number of matches won outright.")
    draws = fields.Integer("Number of matches in which the bot shared the first place.")
    losses = fields.Integer("Number of the other matches. Byes are none of the three.")
    returns = fields.Integer("Total returns of all matches.")
    tie_breaks = fields.List(
        fields.Nested(TieBreakView), "The tie-breaks of the format, in the order in which they apply."
    )


class SnapshotView(fields.View):
    as_of_seq = fields.Integer(AS_OF)
    results = fields.Integer("Number of results included.")


class StandingsPage(SnapshotView):
    samples = fields.Integer("Number of bootstrap samples of each error bar.")
    items = fields.List(fields.Nested(StandingsRow))
    next = fields.String("The cursor of the next page; null on the last page.", allow_none=True)


class OwnStandingView(SnapshotView):
    samples = fields.Integer("Number of bootstrap samples of the error bar.")
    total = fields.Integer("Number of rows in the standings.")
    row = fields.Nested(StandingsRow)
