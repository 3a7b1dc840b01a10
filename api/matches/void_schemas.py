"""Define the schemas of voids of ended matches, and of proposals of them."""

from marshmallow import fields

from api.fields import Id, PlainText, Strict, StrictBool, UtcDateTime, View, describe, member_of
from api.matches.schemas import WHOLE_GROUP
from api.pagination import PageQuery
from referee.matches.states import VoidState
from referee.workflows.voids.voiding import MAX_REASON_LENGTH


class VoidMatch(Strict):
    reason = PlainText(MAX_REASON_LENGTH, required=True, metadata=describe("Reason, shown to everyone."))
    rematch = StrictBool(
        load_default=None,
        allow_none=True,
        metadata=describe(
            "Whether to play the match again with new cards. Default: null, in a running tournament if it is possible."
        ),
    )
    whole_group = StrictBool(
        load_default=False, metadata=describe(f"Void {WHOLE_GROUP}. Required for duplicate deals.")
    )


class VoidQuery(PageQuery):
    match = Id("mat", attribute="match_id", metadata=describe("Only those of this match or of its deal group."))
    tournament = Id("trn", attribute="tournament_id", metadata=describe("Only those of matches of this tournament."))
    state = fields.String(validate=member_of(VoidState))


class VoidView(View):
    id = fields.String()
    match = fields.String(attribute="match_id")
    tournament = fields.String(attribute="tournament_id", allow_none=True)
    whole_group = fields.Boolean(metadata=describe("Whether it concerns all matches that share the match's cards."))
    rematch = fields.Boolean(
        allow_none=True,
        metadata=describe("Whether the match is to be played again; null: in a running tournament, if it is possible."),
    )
    reason = fields.String()
    state = fields.String(
        validate=member_of(VoidState),
        metadata=describe(
            "`proposed`: waits for a second account and has no effect. `confirmed`: the match is void. `superseded`: "
            "the match was voided in another way before anybody decided."
        ),
    )
    proposed_by = fields.String(
        allow_none=True, metadata=describe("Name of the account; null for the service itself, or if unknown.")
    )
    proposed_at = UtcDateTime(attribute="created_at")
    decided_by = fields.String(
        allow_none=True,
        metadata=describe("Name of the account that confirmed, declined or withdrew it; null for the service itself."),
    )
    decided_at = UtcDateTime(allow_none=True, metadata=describe("Null while it is only proposed."))


class VoidedView(View):
    void = fields.List(fields.String(), attribute="matches", metadata=describe("Ids of matches that were voided."))
    cancelled = fields.List(fields.String(), metadata=describe("Ids of matches of the group that were cancelled."))
    rematches = fields.List(fields.String(), metadata=describe("Ids of rematches that were created."))
    ledger_entries = fields.List(
        fields.Integer(),
        attribute="entry_seqs",
        metadata=describe("Numbers of the ledger entries that removed their results from ladders."),
    )
    proposal = fields.Nested(
        VoidView,
        allow_none=True,
        metadata=describe("The proposal, if a second account has to confirm it first; else null. Nothing is void yet."),
    )
