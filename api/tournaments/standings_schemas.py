"""Tables of an event: standings, who met whom, scores less the luck of the cards, strengths."""

from marshmallow import fields

from api.fields import Exact, Rounded, Strict

AS_OF = "the last result that counts here: results are numbered in the order in which matches end; 0: none yet"
EXACT = {"description": "as a fraction", "example": "13/2"}


class TieBreakView(Strict):
    name = fields.String(required=True, metadata={"example": "buchholz"})
    value = fields.Float(required=True, allow_none=True, metadata={"description": "null: it does not apply"})
    exact = Exact("value", required=True, allow_none=True, metadata=EXACT)


class ErrorBarView(Strict):
    low = fields.Float(required=True, allow_none=True, metadata={"description": "of 95 % confidence; null: too little"})
    high = fields.Float(required=True, allow_none=True)
    groups = fields.Integer(
        required=True, metadata={"description": "deal groups it rests on; with fewer than eight it is rough"}
    )


class EntrantView(Strict):
    place = fields.Integer(
        attribute="rank", required=True, metadata={"description": "shared by those whom no tie-break parts"}
    )
    bot = fields.String(attribute="entrant", required=True)
    name = fields.String(attribute="person.name", required=True)


class StandingsRow(EntrantView):
    owner = fields.String(attribute="person.owner", required=True)
    withdrawn = fields.Boolean(attribute="person.withdrawn", required=True)
    version_changed = fields.Boolean(
        attribute="person.version_changed",
        required=True,
        metadata={"description": "it is not the version that started"},
    )
    matches = fields.Integer(required=True)
    byes = fields.Integer(required=True)
    points = fields.Float(required=True, metadata={"description": "a match gives at most 1, a tie its half"})
    points_exact = Exact("points", required=True, metadata=EXACT)
    points_per_match = fields.Float(
        attribute="error_bar.points_per_match",
        required=True,
        allow_none=True,
        metadata={"description": "without byes; null without a match"},
    )
    error_bar = fields.Nested(ErrorBarView, required=True, metadata={"description": "of the points per match"})
    wins = fields.Integer(required=True, metadata={"description": "matches won alone"})
    returns = fields.Integer(required=True, metadata={"description": "gained over all matches"})
    tie_breaks = fields.List(
        fields.Nested(TieBreakView),
        required=True,
        metadata={"description": "the columns of the format, in the order in which they decide"},
    )


class SnapshotView(Strict):
    as_of_seq = fields.Integer(required=True, metadata={"description": AS_OF})
    results = fields.Integer(required=True, metadata={"description": "how many count; of a ladder the newest 100,000"})


class StandingsPage(SnapshotView):
    samples = fields.Integer(required=True, metadata={"description": "that each error bar rests on"})
    items = fields.List(fields.Nested(StandingsRow), required=True)
    next = fields.String(required=True, allow_none=True, metadata={"description": "cursor of the next page"})


class OwnStandingView(SnapshotView):
    samples = fields.Integer(required=True, metadata={"description": "that the error bar rests on"})
    of = fields.Integer(required=True, metadata={"description": "how many are in the table"})
    row = fields.Nested(StandingsRow, required=True)


class RivalView(Strict):
    bot = fields.String(required=True)
    matches = fields.Integer(required=True, metadata={"description": "at one table"})
    points = fields.Float(required=True, metadata={"description": "1 for each match placed before it, level a half"})
    lead = fields.Integer(required=True, metadata={"description": "matches placed before it less those behind"})


class CrosstableRow(EntrantView):
    rivals = fields.List(
        fields.Nested(RivalView), required=True, metadata={"description": "whom it met, in the order of the table"}
    )


class CrosstablePage(SnapshotView):
    items = fields.List(fields.Nested(CrosstableRow), required=True)
    next = fields.String(required=True, allow_none=True, metadata={"description": "cursor of the next page"})


class OpponentView(Strict):
    bot = fields.String(required=True)
    matches = fields.Integer(required=True)


class MeetingsRow(EntrantView):
    seats = fields.List(
        fields.Integer(), attribute="met.seats", required=True, metadata={"description": "matches by seat"}
    )
    opponents = fields.List(
        fields.Nested(OpponentView), required=True, metadata={"description": "the most frequent first"}
    )
    byes = fields.Integer(attribute="met.byes", required=True)


class MeetingsPage(SnapshotView):
    items = fields.List(fields.Nested(MeetingsRow), required=True)
    next = fields.String(required=True, allow_none=True, metadata={"description": "cursor of the next page"})


class MeanView(Strict):
    value = fields.Float(required=True)
    exact = Exact("value", required=True, metadata=EXACT)
    error = fields.Float(
        required=True, allow_none=True, metadata={"description": "standard error; null with one deal group"}
    )


class LuckRow(EntrantView):
    points = fields.Nested(
        MeanView,
        attribute="adjusted.points",
        dump_default=None,
        required=True,
        allow_none=True,
        metadata={"description": "a match, above all that held the same cards; null: nobody did"},
    )
    returns = fields.Nested(
        MeanView,
        attribute="adjusted.returns",
        dump_default=None,
        required=True,
        allow_none=True,
        metadata={"description": "likewise"},
    )
    matches = fields.Integer(
        attribute="adjusted.matches", dump_default=0, required=True, metadata={"description": "that could be compared"}
    )
    groups = fields.Integer(
        attribute="adjusted.groups", dump_default=0, required=True, metadata={"description": "deal groups of these"}
    )


class LuckPage(SnapshotView):
    items = fields.List(fields.Nested(LuckRow), required=True)
    next = fields.String(required=True, allow_none=True, metadata={"description": "cursor of the next page"})


class StrengthRow(Strict):
    rank = fields.Integer(required=True)
    bot = fields.String(attribute="id", required=True)
    name = fields.String(required=True)
    points = Rounded(
        2, required=True, metadata={"description": "1500 is the mean; 400 more win ten times as often as they lose"}
    )
    low = Rounded(2, required=True, metadata={"description": "of the 95 % interval"})
    high = Rounded(2, required=True)
    se = Rounded(2, required=True, metadata={"description": "standard error"})
    matches = fields.Integer(required=True)
    superior_to_next = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "probability that it is stronger than the next; null: it is the last"},
    )
    best_rank = fields.Integer(required=True, metadata={"description": "that the intervals of all leave open"})
    worst_rank = fields.Integer(required=True)


class StrengthsPage(Strict):
    as_of_seq = fields.Integer(required=True, metadata={"description": "the last result, of a ladder the last act"})
    results = fields.Integer(required=True, metadata={"description": "fitted"})
    left_out = fields.Integer(required=True, metadata={"description": "older results of a ladder"})
    converged = fields.Boolean(required=True, metadata={"description": "to a hundredth of a point"})
    exact = fields.Boolean(required=True, metadata={"description": "false: so many bots that errors are approximate"})
    items = fields.List(fields.Nested(StrengthRow), required=True, metadata={"description": "the strongest first"})
    next = fields.String(required=True, allow_none=True, metadata={"description": "cursor of the next page"})
