"""Define the schemas of the visible rows of a match, its decisions, and the verification of its log."""

from typing import get_args

from api import fields
from api.chain.schemas import SignatureView
from referee.matches.states import MatchState
from referee.workflows.publishing.visibility import Pace

LAST = 999_999_999
MOST_ROWS = 1_000


class RowsQuery(fields.Query):
    after = fields.QueryInt(0, LAST, "Return only rows after this one, the `next_after` of the previous page.")
    limit = fields.QueryInt(1, MOST_ROWS, "The maximum number of rows.", load_default=500)


class PublicRowView(fields.View):
    number = fields.Integer("Counts the public events of the match from 0.")
    event = fields.Dict("A game event, masked for the public: hidden cards are `??`.")


class RowsView(fields.View):
    status = fields.OneOf(MatchState)
    reason = fields.String(allow_none=True)
    open = fields.Boolean("Whether the whole log can be read with GET …/log.", attribute="is_public")
    delayed = fields.Boolean("Whether rows become visible later, in groups; see `pace`.", attribute="is_delayed")
    pace = fields.OneOf(
        get_args(Pace),
        "When rows become visible. `at_once`: immediately; `rounds`: at the end of a round, or when they are a "
        "minute old; `all_tables`: when all matches with the same cards have played them.",
    )
    rows = fields.Integer("Number of rows visible so far.")
    placements = fields.List(
        fields.Integer(), "Placements, one per seat; null until the match is over.", allow_none=True
    )
    items = fields.List(fields.Nested(PublicRowView))
    next_after = fields.Integer(
        "The last row returned so far; pass it as `after` in the next request.", allow_none=True
    )


class DecisionView(fields.View):
    row = fields.Integer()
    n = fields.Integer("Number of the decision point.")
    seat = fields.Integer()
    question = fields.Dict(
        "The body as sent to the bot; null for a forced move, about which no bot is asked.", allow_none=True
    )
    decision = fields.Dict("The decision as a row of the log.")


class VerificationView(fields.View):
    ok = fields.Boolean()
    rows = fields.Integer()
    match = fields.String()
    game = fields.String()
    row = fields.Integer("Number of the first invalid row; null if all rows are valid.", allow_none=True)
    reason = fields.String("Why that row is invalid.")
    revealed = fields.Boolean("Whether the deals were revealed and follow from the seed.")
    placements = fields.List(fields.Integer())
    digest = fields.String("SHA-256 of the last row before the reveal, in hex.")
    signature = fields.Nested(
        SignatureView,
        "The signature of the log, made for these rows by a key of the service; null without one.",
        allow_none=True,
    )
