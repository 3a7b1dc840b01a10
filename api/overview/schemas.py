"""Define the schema of the overview: matches and tournaments in progress, counts."""

from api import fields
from api.matches.schemas import MatchView
from api.tournaments.schemas import ProgressView


class ActiveTournamentView(fields.View):
    id = fields.String()
    name = fields.String()
    game = fields.String()
    format = fields.String()
    rated = fields.Boolean()
    status = fields.String()
    progress = fields.Nested(ProgressView)


class CountsView(fields.View):
    running = fields.Integer("Number of matches in progress.")
    waiting = fields.Integer("Number of matches that have not begun.")
    results = fields.Integer("Number of matches that have ended.")
    tournaments = fields.Integer("Number of tournaments in progress.")
    open = fields.Integer("Number of tournaments open for entries.")


class LiveMatchView(MatchView):
    scores = fields.List(
        fields.Integer(),
        "Scores by seat in the visible rows, in the points or chips of the game; null at first.",
        allow_none=True,
        attribute="live.scores",
    )
    round = fields.String('Title of the last visible round, as "Deal 3", or empty.', attribute="live.round")


class NowView(fields.View):
    matches = fields.List(
        fields.Nested(LiveMatchView),
        "Matches in progress, one of each game, the closest first; each stays until it is over.",
    )
    featured = fields.String(
        "Id of the match in progress with the highest rated players, tournaments first, until it is over. Null if "
        "there is none whose players and rows are shown immediately.",
        allow_none=True,
    )
    tournaments = fields.List(
        fields.Nested(ActiveTournamentView), "Tournaments that are running or paused, newest first, at most 12."
    )
    counts = fields.Nested(CountsView)
