"""Define the schemas of the visible rows of a match, its decisions, and the verification of its log."""

from typing import get_args

from marshmallow import fields, validate

from api import doc
from api.chain.schemas import SignatureView
from api.fields import Query, QueryInt, View, member_of
from referee.matches.states import MatchState
from referee.workflows.publishing.visibility import Pace

LAST = 999_999_999
MOST_ROWS = 1_000


class RowsQuery(Query):
    after = doc.of(
        QueryInt, "Return only rows after this one, the `next_after` of the previous page.", low=0, high=LAST
    )
    limit = doc.of(QueryInt, "The maximum number of rows.", low=1, high=MOST_ROWS, load_default=500)


class PublicRowView(View):
    number = doc.integer("Counts the public events of the match from 0.")
    event = doc.mapping("A game event, masked for the public: hidden cards are `??`.")


class RowsView(View):
    status = fields.String(validate=member_of(MatchState))
    reason = fields.String(allow_none=True)
    open = doc.flag("Whether the whole log can be read with GET …/log.", attribute="is_public")
    delayed = doc.flag("Whether rows become visible later, in groups; see `pace`.", attribute="is_delayed")
    pace = doc.text(
        "When rows become visible. `at_once`: immediately; `rounds`: at the end of a round, or when they are a "
        "minute old; `all_tables`: when all matches with the same cards have played them.",
        validate=validate.OneOf(get_args(Pace)),
    )
    rows = doc.integer("Number of rows visible so far.")
    placements = doc.listing("Placements, one per seat; null until the match is over.", fields.Integer(), null=True)
    items = fields.List(fields.Nested(PublicRowView))
    next_after = doc.integer("The last row returned so far; pass it as `after` in the next request.", null=True)


class DecisionView(View):
    row = fields.Integer()
    n = doc.integer("Number of the decision point.")
    seat = fields.Integer()
    question = doc.mapping(
        "The body as sent to the bot; null for a forced move, about which no bot is asked.", null=True
    )
    decision = doc.mapping("The decision as a row of the log.")


class VerificationView(View):
    ok = fields.Boolean()
    rows = fields.Integer()
    match = fields.String()
    game = fields.String()
    row = doc.integer("Number of the first invalid row; null if all rows are valid.", null=True)
    reason = doc.text("Why that row is invalid.")
    revealed = doc.flag("Whether the deals were revealed and follow from the seed.")
    placements = fields.List(fields.Integer())
    digest = doc.text("SHA-256 of the last row before the reveal, in hex.")
    signature = doc.nested(
        "The signature of the log, made for these rows by a key of the service; null without one.",
        SignatureView,
        null=True,
    )
