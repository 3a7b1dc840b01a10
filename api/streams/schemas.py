"""What goes on: rows of matches as they come, what a bot was asked, whether a log holds, the whole service."""

from typing import get_args

from marshmallow import fields, validate

from api.fields import Query, QueryInt, Strict
from api.matches.schemas import MatchView
from api.tournaments.schemas import ProgressView
from referee.matches.tables import MATCH_STATES
from referee.workflows.visibility import Pace

LAST = 999_999_999
MAX_ROWS = 1_000


class FollowQuery(Query):
    after = QueryInt(
        low=0,
        high=LAST,
        metadata={"description": "what is known already, as an id of the stream; `Last-Event-ID` wins"},
    )


class RowsQuery(Query):
    after = QueryInt(
        low=0, high=LAST, metadata={"description": "rows after this one, the `next_after` of a page before"}
    )
    limit = QueryInt(low=1, high=MAX_ROWS, load_default=500, metadata={"description": "at most this many rows"})


class RowView(Strict):
    row = fields.Integer(required=True)
    events = fields.List(
        fields.Dict(), required=True, metadata={"description": "as the public sees them: hidden cards are `??`"}
    )


class RowsView(Strict):
    status = fields.String(required=True, validate=validate.OneOf(MATCH_STATES))
    reason = fields.String(required=True, allow_none=True)
    open = fields.Boolean(
        attribute="is_public", required=True, metadata={"description": "the whole log can be read: GET …/log"}
    )
    held_back = fields.Boolean(
        attribute="is_delayed",
        required=True,
        metadata={"description": "rows are told in groups, not as they are recorded: rated play that is not over"},
    )
    pace = fields.String(
        required=True,
        validate=validate.OneOf(get_args(Pace)),
        metadata={
            "description": "when rows are told: `at_once`; `rounds`: at the end of a round, or when they are a minute "
            "old; `all_tables`: when all matches that play the same cards have played them"
        },
    )
    rows = fields.Integer(required=True, metadata={"description": "told so far"})
    placements = fields.List(
        fields.Integer(), required=True, allow_none=True, metadata={"description": "by seat; null before the end"}
    )
    items = fields.List(fields.Nested(RowView), required=True)
    next_after = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "the last row that is known now: ask again with it as `after`"},
    )


class DecisionView(Strict):
    row = fields.Integer(required=True)
    n = fields.Integer(required=True, metadata={"description": "the number of the decision point"})
    seat = fields.Integer(required=True)
    question = fields.Dict(
        required=True,
        allow_none=True,
        metadata={"description": "the body as it was sent to the bot; null where nobody was asked (a forced move)"},
    )
    decision = fields.Dict(required=True, metadata={"description": "the row of the log"})


class VerificationView(Strict):
    ok = fields.Boolean(required=True)
    rows = fields.Integer(required=True)
    match = fields.String(required=True)
    game = fields.String(required=True)
    row = fields.Integer(required=True, allow_none=True, metadata={"description": "the first that does not hold"})
    reason = fields.String(required=True, metadata={"description": "why it does not"})
    revealed = fields.Boolean(required=True, metadata={"description": "the deals follow from the revealed seed"})
    placements = fields.List(fields.Integer(), required=True)
    digest = fields.String(required=True, metadata={"description": "SHA-256 of the last row of play"})


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
