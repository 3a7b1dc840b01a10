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


class NowView(View):
    matches = fields.List(fields.Nested(MatchView), metadata=describe("Matches in progress, at most 12."))
    tournaments = fields.List(
        fields.Nested(ActiveTournamentView),
        metadata=describe("Tournaments that are running or paused, newest first, at most 12."),
    )
    counts = fields.Nested(CountsView)
