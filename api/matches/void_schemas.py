"""Define the schemas of voids of ended matches, and of proposals of them."""

from marshmallow import fields

from api import doc
from api.fields import Id, PlainText, Strict, StrictBool, UtcDateTime, View, member_of
from api.matches.schemas import WHOLE_GROUP
from api.pagination import PageQuery
from referee.matches.states import VoidState
from referee.workflows.voids.voiding import MAX_REASON_LENGTH


class VoidMatch(Strict):
    reason = doc.of(PlainText, "Reason, shown to everyone.", MAX_REASON_LENGTH, required=True)
    rematch = doc.of(
        StrictBool,
        "Whether to play the match again with new cards. Default: null, in a running tournament if it is possible.",
        null=True,
        load_default=None,
    )
    whole_group = doc.of(StrictBool, f"Void {WHOLE_GROUP}. Required for duplicate deals.", load_default=False)


class VoidQuery(PageQuery):
    match = doc.of(Id, "Only those of this match or of its deal group.", "mat", attribute="match_id")
    tournament = doc.of(Id, "Only those of matches of this tournament.", "trn", attribute="tournament_id")
    state = fields.String(validate=member_of(VoidState))


class VoidView(View):
    id = fields.String()
    match = fields.String(attribute="match_id")
    tournament = fields.String(attribute="tournament_id", allow_none=True)
    whole_group = doc.flag("Whether it concerns all matches that share the match's cards.")
    rematch = doc.flag(
        "Whether the match is to be played again; null: in a running tournament, if it is possible.", null=True
    )
    reason = fields.String()
    state = doc.text(
        "`proposed`: waits for a second account and has no effect. `confirmed`: the match is void. `superseded`: "
        "the match was voided in another way before anybody decided.",
        validate=member_of(VoidState),
    )
    proposed_by = doc.text("Name of the account; null for the service itself, or if unknown.", null=True)
    proposed_at = UtcDateTime(attribute="created_at")
    decided_by = doc.text(
        "Name of the account that confirmed, declined or withdrew it; null for the service itself.", null=True
    )
    decided_at = doc.of(UtcDateTime, "Null while it is only proposed.", null=True)


class VoidedView(View):
    void = doc.listing("Ids of matches that were voided.", fields.String(), attribute="matches")
    cancelled = doc.listing("Ids of matches of the group that were cancelled.", fields.String())
    rematches = doc.listing("Ids of rematches that were created.", fields.String())
    ledger_entries = doc.listing(
        "Numbers of the ledger entries that removed their results from ladders.",
        fields.Integer(),
        attribute="entry_seqs",
    )
    proposal = doc.nested(
        "The proposal, if a second account has to confirm it first; else null. Nothing is void yet.",
        VoidView,
        null=True,
    )
