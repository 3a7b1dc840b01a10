"""Matches: what is asked for, what is shown. Cards and actions are in the log alone."""

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from api.fields import Id, OptionalBody, Part, PlainText, QueryInt, Strict, StrictBool, StrictInt, UtcDateTime
from api.games.schemas import GAMES, check_options
from api.pagination import PageQuery
from referee.match.time_limits import Limits
from referee.matches.quotas import MAX_TIME
from referee.matches.tables import GROUP_KINDS, GROUP_STATES, MATCH_STATES
from referee.workflows.unrated import UNRATED_REASONS
from referee.workflows.voiding import MAX_REASON_LENGTH

MAX_SEATS = 10
LAST_STAGE = 1_000_000
WHOLE_GROUP = "all matches that share their cards with this one"
DEFAULTS = Limits()


class TimeView(Strict):
    budget_ms = StrictInt(
        low=50,
        high=60_000,
        load_default=DEFAULTS.budget_ms,
        metadata={"description": f"time per decision; at most {MAX_TIME.budget_ms} in a friendly"},
    )
    bank_ms = StrictInt(
        low=0,
        high=600_000,
        load_default=DEFAULTS.bank_ms,
        metadata={"description": f"bank of extra time per match; at most {MAX_TIME.bank_ms} in a friendly"},
    )


class NewMatch(Strict):
    game = fields.String(required=True, validate=validate.OneOf(GAMES))
    bots = fields.List(
        Id("bot"),
        required=True,
        validate=validate.Length(1, MAX_SEATS),
        metadata={"description": "by seat, each once; at least one of your own"},
    )
    options = fields.Dict(keys=fields.String(), load_default=dict, metadata={"description": "see GET /games"})
    rated = StrictBool(load_default=False, metadata={"description": "for organisers"})
    time = fields.Nested(TimeView, load_default=lambda: TimeView().load({}))

    @validates_schema
    def fits_the_game(self, match: dict[str, Any], **_: object) -> None:
        if len(set(match["bots"])) < len(match["bots"]):
            raise ValidationError({"bots": ["each bot once"]})
        check_options(match["game"], len(match["bots"]), match["options"], seats_field="bots")


class MatchQuery(PageQuery):
    status = fields.String(validate=validate.OneOf(MATCH_STATES))
    bot = Id("bot")
    tournament = Id("trn")
    tournament_round = QueryInt(low=1, high=LAST_STAGE, metadata={"description": "its number, from 1"})
    game = fields.String(validate=validate.OneOf(GAMES))


class CancelMatch(OptionalBody):
    reason = PlainText(MAX_REASON_LENGTH, load_default="cancelled", metadata={"description": "for everybody"})
    whole_group = StrictBool(
        load_default=False, metadata={"description": f"cancel {WHOLE_GROUP}; needed where there are"}
    )


class VoidMatch(Strict):
    reason = PlainText(MAX_REASON_LENGTH, required=True, metadata={"description": "for everybody"})
    rematch = StrictBool(load_default=False, metadata={"description": "play it again, with fresh cards"})
    whole_group = StrictBool(
        load_default=False, metadata={"description": f"void {WHOLE_GROUP}; needed in duplicate deals"}
    )


class VoidedView(Strict):
    void = fields.List(
        fields.String(), attribute="matches", required=True, metadata={"description": "matches that are void now"}
    )
    cancelled = fields.List(
        fields.String(), required=True, metadata={"description": "matches of the group that were not over"}
    )
    rematches = fields.List(fields.String(), required=True, metadata={"description": "matches arranged in their place"})
    acts = fields.List(
        fields.Integer(),
        attribute="entry_seqs",
        required=True,
        metadata={"description": "numbers of the ledger entries that took their results out of the ladders"},
    )


class UnratedReason(fields.String):
    """The reason why a match is unrated, one of ``UNRATED_REASONS``."""

    def __init__(self, description: str) -> None:
        listed = "; ".join(f"`{code}`: {text}" for code, text in UNRATED_REASONS.items())
        super().__init__(
            required=True,
            allow_none=True,
            validate=validate.OneOf(list(UNRATED_REASONS)),
            metadata={"description": f"{description}. {listed}"},
        )


class SeatView(Strict):
    seat = fields.Integer(required=True)
    bot = fields.String(
        attribute="bot_id",
        required=True,
        allow_none=True,
        metadata={"description": "null while a rated match is not over, unless its event says so"},
    )
    name = fields.String(
        attribute="bot_name",
        required=True,
        allow_none=True,
        metadata={"description": "as it was when the match began; null as `bot` is"},
    )
    version = fields.String(required=True, allow_none=True)
    entrant = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "whose seat it is: another than `bot` where a house bot stands in"},
    )
    rated = fields.Boolean(
        required=True, allow_none=True, metadata={"description": "counts where the match does; null as `bot` is"}
    )
    placement = fields.Integer(required=True, allow_none=True)
    returns = fields.Integer(required=True, allow_none=True, metadata={"description": "what the seat gained"})


class RevealView(Strict):
    seed = fields.String(required=True, metadata={"description": "32 bytes in hex"})
    nonces = fields.List(fields.String(), required=True, metadata={"description": "in the order of entries"})
    nonce_hashes = fields.List(fields.String(), required=True)


class GroupView(Strict):
    id = fields.String(required=True)
    kind = fields.String(
        required=True,
        validate=validate.OneOf(GROUP_KINDS),
        metadata={
            "description": "own: this match alone; common: tables of a stage; duplicate: the same bots, seats rotated"
        },
    )
    state = fields.String(required=True, validate=validate.OneOf(GROUP_STATES))
    commitment = fields.String(
        required=True, metadata={"description": "SHA-256 of the seed and the group's id, given before the first draw"}
    )
    entries = fields.List(
        fields.String(),
        required=True,
        allow_none=True,
        attribute="public_entries",
        metadata={"description": "bots by nonce, once the group is over"},
    )
    reveal = fields.Nested(
        RevealView, required=True, allow_none=True, metadata={"description": "null until the group is over"}
    )


class MatchView(Strict):
    id = fields.String(required=True)
    game = fields.String(required=True)
    rules_version = fields.Integer(required=True)
    options = fields.Dict(required=True)
    seats = fields.List(fields.Nested(SeatView), required=True)
    time = Part(TimeView, required=True)
    rated = fields.Boolean(required=True)
    unrated_reason = UnratedReason("why it is unrated; null if it is rated")
    status = fields.String(required=True, validate=validate.OneOf(MATCH_STATES))
    reason = fields.String(
        required=True, allow_none=True, metadata={"description": "why it was cancelled, or does not count"}
    )
    tournament = fields.String(attribute="tournament_id", required=True, allow_none=True)
    tournament_round = fields.Integer(required=True, allow_none=True)
    table = fields.Integer(
        attribute="table_no",
        required=True,
        allow_none=True,
        metadata={"description": "from 1; in a ladder the number of the match"},
    )
    leg = fields.Integer(required=True, allow_none=True, metadata={"description": "of the matches at one table"})
    rematch_of = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "the void or cancelled match that this match repeats"},
    )
    group_id = fields.String(required=True, metadata={"description": "the deal group whose end opens the log"})
    created_at = UtcDateTime(required=True)
    started_at = UtcDateTime(required=True, allow_none=True)
    finished_at = UtcDateTime(required=True, allow_none=True)


class WholeMatchView(MatchView):
    group = fields.Nested(GroupView, required=True)
