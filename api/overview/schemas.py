"""Define the schema of the overview: matches and tournaments in progress, counts."""

from marshmallow import fields

from api import doc
from api.fields import View
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
    running = doc.integer("Number of matches in progress.")
    waiting = doc.integer("Number of matches that have not begun.")
    results = doc.integer("Number of matches that have ended.")
    tournaments = doc.integer("Number of tournaments in progress.")
    open = doc.integer("Number of tournaments open for entries.")


class LiveMatchView(MatchView):
    scores = doc.listing(
        "Scores by seat in the visible rows, in the points or chips of the game; null at first.",
        fields.Integer(),
        null=True,
        attribute="live.scores",
    )
    round = doc.text('Title of the last visible round, as "Deal 3", or empty.', attribute="live.round")


class NowView(View):
    matches = doc.listing(
        "Matches in progress, one of each game, the closest first; each stays until it is over.",
        fields.Nested(LiveMatchView),
    )
    featured = doc.text(
        "Id of the match in progress with the highest rated players, tournaments first, until it is over. Null if "
        "there is none whose players and rows are shown immediately.",
        null=True,
    )
    tournaments = doc.listing(
        "Tournaments that are running or paused, newest first, at most 12.", fields.Nested(ActiveTournamentView)
    )
    counts = fields.Nested(CountsView)
