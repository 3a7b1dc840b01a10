"""Define the schemas of the visible rows of a match, its decisions, and the verification of its log."""

from typing import get_args

from marshmallow import fields, validate

from api.chain.schemas import SignatureView
from api.fields import Query, QueryInt, View, describe, member_of
from referee.matches.states import MatchState
from referee.workflows.publishing.visibility import Pace

LAST = 999_999_999
MOST_ROWS = 1_000


class RowsQuery(Query):
    after = QueryInt(
        low=0, high=LAST, metadata=describe("Return only rows after this one, the `next_after` of the previous page.")
    )
    limit = QueryInt(low=1, high=MOST_ROWS, load_default=500, metadata=describe("The maximum number of rows."))


class PublicRowView(View):
    number = fields.Integer(metadata=describe("Counts the public events of the match from 0."))
    event = fields.Dict(metadata=describe("A game event, masked for the public: hidden cards are `??`."))


class RowsView(View):
    status = fields.String(validate=member_of(MatchState))
    reason = fields.String(allow_none=True)
    open = fields.Boolean(attribute="is_public", metadata=describe("Whether the whole log can be read with GET …/log."))
    delayed = fields.Boolean(
        attribute="is_delayed",
        metadata=describe("Whether rows become visible later, in groups; see `pace`."),
    )
    pace = fields.String(
        validate=validate.OneOf(get_args(Pace)),
        metadata=describe(
            "When rows become visible. `at_once`: immediately; `rounds`: at the end of a round, or when they are a "
            "minute old; `all_tables`: when all matches with the same cards have played them."
        ),
    )
    rows = fields.Integer(metadata=describe("Number of rows visible so far."))
    placements = fields.List(
        fields.Integer(), allow_none=True, metadata=describe("Placements, one per seat; null until the match is over.")
    )
    items = fields.List(fields.Nested(PublicRowView))
    next_after = fields.Integer(
        allow_none=True, metadata=describe("The last row returned so far; pass it as `after` in the next request.")
    )


class DecisionView(View):
    row = fields.Integer()
    n = fields.Integer(metadata=describe("Number of the decision point."))
    seat = fields.Integer()
    question = fields.Dict(
        allow_none=True,
        metadata=describe("The body as sent to the bot; null for a forced move, about which no bot is asked."),
    )
    decision = fields.Dict(metadata=describe("The decision as a row of the log."))


class VerificationView(View):
    ok = fields.Boolean()
    rows = fields.Integer()
    match = fields.String()
    game = fields.String()
    row = fields.Integer(
        allow_none=True, metadata=describe("Number of the first invalid row; null if all rows are valid.")
    )
    reason = fields.String(metadata=describe("Why that row is invalid."))
    revealed = fields.Boolean(metadata=describe("Whether the deals were revealed and follow from the seed."))
    placements = fields.List(fields.Integer())
    digest = fields.String(metadata=describe("SHA-256 of the last row before the reveal, in hex."))
    signature = fields.Nested(
        SignatureView,
        allow_none=True,
        metadata=describe("The signature of the log, made for these rows by a key of the service; null without one."),
    )
