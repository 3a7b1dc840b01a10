"""The overview of the service: matches and tournaments in progress, counts."""

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
    running = fields.Integer(metadata=describe("Matches in progress."))
    waiting = fields.Integer(metadata=describe("Matches that have not begun."))
    results = fields.Integer(metadata=describe("All matches that have ended."))
    tournaments = fields.Integer(metadata=describe("Tournaments in progress."))
    open = fields.Integer(metadata=describe("Tournaments open for entries."))


class NowView(View):
    matches = fields.List(fields.Nested(MatchView), metadata=describe("At most 12 matches in progress."))
    tournaments = fields.List(
        fields.Nested(ActiveTournamentView),
        metadata=describe("At most 12 tournaments that are running or paused, newest first."),
    )
    counts = fields.Nested(CountsView)
