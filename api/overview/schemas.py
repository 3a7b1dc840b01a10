"""Define the schema of the overview: matches and tournaments in progress, counts."""

from marshmallow import fields

from api.fields import View, describe
from api.matches.schemas import MatchView
from api.tournaments.schemas import ProgressView


class ActiveTournamentView(View):
    id = fields.String()
    name = fields.String()
    game = fields.String()
    format = fields.String()
    rated = fields.Boolean()
    status = fields.String()
    progress = fields.Nested(ProgressView)


class CountsView(View):
    running = fields.Integer(metadata=describe("Number of matches in progress."))
    waiting = fields.Integer(metadata=describe("Number of matches that have not begun."))
    results = fields.Integer(metadata=describe("Number of matches that have ended."))
    tournaments = fields.Integer(metadata=describe("Number of tournaments in progress."))
    open = fields.Integer(metadata=describe("Number of tournaments open for entries."))


class LiveMatchView(MatchView):
    scores = fields.List(
        fields.Integer(),
        allow_none=True,
        attribute="live.scores",
        metadata=describe("Scores by seat in the visible rows, in the points or chips of the game; null at first."),
    )
    round = fields.String(
        attribute="live.round",
        metadata=describe('Title of the last visible round, as "Deal 3", or empty.'),
    )


class NowView(View):
    matches = fields.List(
        fields.Nested(LiveMatchView),
        metadata=describe("Matches in progress, one of each game, the closest first; each stays until it is over."),
    )
    featured = fields.String(
        allow_none=True,
        metadata=describe(
            "Id of the match in progress with the highest rated players, tournaments first, until it is over. Null if "
            "there is none whose players and rows are shown immediately."
        ),
    )
    tournaments = fields.List(
        fields.Nested(ActiveTournamentView),
        metadata=describe("Tournaments that are running or paused, newest first, at most 12."),
    )
    counts = fields.Nested(CountsView)
