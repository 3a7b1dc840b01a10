"""The overview of the service: matches and tournaments in progress, counts."""

from marshmallow import fields

from api.fields import Strict
from api.matches.schemas import MatchView
from api.tournaments.schemas import ProgressView


class LiveEventView(Strict):
    id = fields.String(required=True)
    name = fields.String(required=True)
    game = fields.String(required=True)
    format = fields.String(required=True)
    rated = fields.Boolean(required=True)
    status = fields.String(required=True)
    progress = fields.Nested(ProgressView, required=True)


class CountsView(Strict):
    running = fields.Integer(required=True, metadata={"description": "matches"})
    waiting = fields.Integer(required=True, metadata={"description": "matches that have not begun"})
    results = fields.Integer(required=True, metadata={"description": "matches that ended, since ever"})
    tournaments = fields.Integer(required=True, metadata={"description": "that are running"})
    open = fields.Integer(required=True, metadata={"description": "tournaments that are open for entries"})


class NowView(Strict):
    matches = fields.List(
        fields.Nested(MatchView), required=True, metadata={"description": "up to 12 that are being played"}
    )
    tournaments = fields.List(
        fields.Nested(LiveEventView),
        required=True,
        metadata={"description": "up to 12 that run or pause, newest first"},
    )
    counts = fields.Nested(CountsView, required=True)
