"""Define the schemas of voids of ended matches, and of proposals of them."""

from api import fields
from api.matches.schemas import WHOLE_GROUP
from api.pagination import PageQuery
from referee.matches.states import VoidState
from referee.workflows.voids.voiding import MAX_REASON_LENGTH


class VoidMatch(fields.Strict):
    reason = fields.PlainText(MAX_REASON_LENGTH, "Reason, shown to everyone.", required=True)
    rematch = fields.StrictBool(
        "Whether to play the match again with new cards. Default: null, in a running tournament if it is possible.",
        allow_none=True,
        load_default=None,
    )
    whole_group = fields.StrictBool(f"Void {WHOLE_GROUP}. Required for duplicate deals.", load_default=False)


class VoidQuery(PageQuery):
    match = fields.Id("mat", "Only those of this match or of its deal group.", attribute="match_id")
    tournament = fields.Id("trn", "Only those of matches of this tournament.", attribute="tournament_id")
    state = fields.OneOf(VoidState)


class VoidView(fields.View):
    id = fields.String()
    match = fields.String(attribute="match_id")
    tournament = fields.String(attribute="tournament_id", allow_none=True)
    whole_group = fields.Boolean("Whether it concerns all matches that share the match's cards.")
    rematch = fields.Boolean(
        "Whether the match is to be played again; null: in a running tournament, if it is possible.", allow_none=True
    )
    reason = fields.String()
    state = fields.OneOf(
        VoidState,
        "`proposed`: waits for a second account and has no effect. `confirmed`: the match is void. `superseded`: "
        "the match was voided in another way before anybody decided.",
    )
    proposed_by = fields.String("Name of the account; null for the service itself, or if unknown.", allow_none=True)
    proposed_at = fields.UtcDateTime(attribute="created_at")
    decided_by = fields.String(
        "Name of the account that confirmed, declined or withdrew it; null for the service itself.", allow_none=True
    )
    decided_at = fields.UtcDateTime("Null while it is only proposed.", allow_none=True)


class VoidedView(fields.View):
    void = fields.List(fields.String(), "Ids of matches that were voided.", attribute="matches")
    cancelled = fields.List(fields.String(), "Ids of matches of the group that were cancelled.")
    rematches = fields.List(fields.String(), "Ids of rematches that were created.")
    ledger_entries = fields.List(
        fields.Integer(),
        "Numbers of the ledger entries that removed their results from ladders.",
        attribute="entry_seqs",
    )
    proposal = fields.Nested(
        VoidView,
        "The proposal, if a second account has to confirm it first; else null. Nothing is void yet.",
        allow_none=True,
    )
