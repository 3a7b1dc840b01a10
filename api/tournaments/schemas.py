"""Tournaments: their terms, and how far they are. Who takes part stands in ``entries``, who meets in ``stages``."""

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from api.fields import (
    Name,
    NextMinute,
    OptionalBody,
    Part,
    PlainText,
    Strict,
    StrictBool,
    StrictInt,
    UtcDateTime,
    UtcDateTimeInput,
)
from api.games.schemas import GAMES, check_options
from api.matches.schemas import MAX_SEATS, TimeView
from api.pagination import PageQuery
from referee.house.strategies import players
from referee.matches.tables import GROUP_KINDS
from referee.tournaments.tables import TOURNAMENT_STATES
from referee.tournaments.terms import FORMATS, MAX_CYCLES, ORDERS
from referee.workflows.voiding import MAX_REASON_LENGTH

TERMS = {
    "format": "who meets whom; round_robin unless given",
    "format_options": "of the format; what is left out has its usual value: swiss {stages}, knockout {seeding, "
    "advance, best_of, tie_breaks, third_place}, gauntlet {champion}, ladder {at_once, per_bot, spread}",
    "cycles": "how often everybody meets everybody, in formats where everybody does; 1 unless given",
    "rated": "whether results count on the ladder; true unless given",
    "deal_sharing": "own: each match has cards of its own. common: the tables of a stage share their cards, and "
    "nobody meets a deal twice. duplicate: the same bots play the same cards in every order of seats. common where the "
    "event is rated, else own, unless given",
    "orders": "of seats in duplicate deals: each bot once on every seat (cyclic, unless given), or all orders",
    "trusted": "rate duplicate deals all the same, though a bot that remembers knows the cards; false unless given",
    "anonymous": "hide who plays a rated match, from its opponents too, until it is over; true unless given",
    "late_entry": "take entries after the start, from the next stage on; false unless given",
    "frozen_version": "a bot that changes its version loses its seats; false unless given",
    "substitute": "house player that plays for absent bots, unrated; null unless given: nobody does",
    "starts_at": "when it starts automatically; null: when its organiser starts it. If there are too few bots at that "
    "time, it does not start: this becomes null, `status_reason` says why, and it waits for its organiser",
}


class TermsBody(Strict):
    """The terms of an event as they are asked for."""

    name = Name()
    seats = StrictInt(low=1, high=MAX_SEATS, metadata={"description": "of each table"})
    options = fields.Dict(keys=fields.String(), metadata={"description": "of the game, see GET /games"})
    format = fields.String(validate=validate.OneOf(FORMATS), metadata={"description": TERMS["format"]})
    format_options = fields.Dict(keys=fields.String(), metadata={"description": TERMS["format_options"]})
    cycles = StrictInt(low=1, high=MAX_CYCLES, metadata={"description": TERMS["cycles"]})
    rated = StrictBool(metadata={"description": TERMS["rated"]})
    deal_sharing = fields.String(validate=validate.OneOf(GROUP_KINDS), metadata={"description": TERMS["deal_sharing"]})
    orders = fields.String(validate=validate.OneOf(ORDERS), metadata={"description": TERMS["orders"]})
    trusted = StrictBool(metadata={"description": TERMS["trusted"]})
    anonymous = StrictBool(metadata={"description": TERMS["anonymous"]})
    late_entry = StrictBool(metadata={"description": TERMS["late_entry"]})
    frozen_version = StrictBool(metadata={"description": TERMS["frozen_version"]})
    substitute = fields.String(
        allow_none=True, validate=validate.OneOf(list(players())), metadata={"description": TERMS["substitute"]}
    )
    starts_at = UtcDateTimeInput(allow_none=True, metadata={"description": TERMS["starts_at"]})
    time = fields.Nested(TimeView)


class NewTournament(TermsBody):
    name = Name(required=True)
    game = fields.String(required=True, validate=validate.OneOf(GAMES))
    seats = StrictInt(low=1, high=MAX_SEATS, required=True, metadata={"description": "of each table"})
    options = fields.Dict(keys=fields.String(), load_default=dict, metadata={"description": "see GET /games"})
    time = fields.Nested(TimeView, load_default=lambda: TimeView().load({}))

    @validates_schema
    def fits_the_game(self, tournament: dict[str, Any], **_: object) -> None:
        check_options(tournament["game"], tournament["seats"], tournament["options"], seats_field="seats")


class TournamentChanges(TermsBody):
    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("give at least one field to change")


class CancelTournament(OptionalBody):
    reason = PlainText(MAX_REASON_LENGTH, load_default=None, metadata={"description": "for everybody: `status_reason`"})


class TournamentQuery(PageQuery):
    status = fields.String(validate=validate.OneOf(TOURNAMENT_STATES))
    game = fields.String(validate=validate.OneOf(GAMES))


class ProgressView(Strict):
    done = fields.Integer(required=True, metadata={"description": "matches that are over"})
    total = fields.Integer(required=True, metadata={"description": "matches in all, those foreseen among them"})
    by_status = fields.Dict(
        keys=fields.String(), values=fields.Integer(), required=True, metadata={"description": "matches by status"}
    )
    stage = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "the earliest that is not over; 0 before the first; null in a ladder"},
    )
    stages = fields.Integer(required=True, metadata={"description": "decided so far"})
    estimated_end = NextMinute(
        required=True,
        allow_none=True,
        metadata={"description": "by the pace of the last matches, to the minute; null where nobody can tell"},
    )


class EntriesView(Strict):
    entered = fields.Integer(required=True, metadata={"description": "bots that have not withdrawn"})
    withdrawn = fields.Integer(required=True)
    asked = fields.Integer(required=True, metadata={"description": "called before the start, not answered yet"})
    ready = fields.Integer(required=True, metadata={"description": "answered"})
    absent = fields.Integer(required=True, metadata={"description": "could not be called"})
    substitutes = fields.Integer(required=True, metadata={"description": "whose seats a house player has now"})


class TournamentView(Strict):
    id = fields.String(required=True)
    name = fields.String(required=True)
    game = fields.String(required=True)
    options = fields.Dict(required=True)
    seats = fields.Integer(required=True)
    format = fields.String(required=True, validate=validate.OneOf(FORMATS))
    format_options = fields.Dict(required=True)
    cycles = fields.Integer(required=True)
    rated = fields.Boolean(required=True)
    deal_sharing = fields.String(required=True, validate=validate.OneOf(GROUP_KINDS))
    orders = fields.String(required=True, validate=validate.OneOf(ORDERS))
    trusted = fields.Boolean(required=True)
    anonymous = fields.Boolean(required=True)
    late_entry = fields.Boolean(required=True)
    frozen_version = fields.Boolean(required=True)
    substitute = fields.String(required=True, allow_none=True)
    starts_at = UtcDateTime(required=True, allow_none=True)
    time = Part(TimeView, required=True)
    status = fields.String(required=True, validate=validate.OneOf(TOURNAMENT_STATES))
    status_reason = fields.String(
        required=True, allow_none=True, metadata={"description": "why it was cancelled, or could not start"}
    )
    organiser = fields.String(attribute="created_by", required=True)
    created_at = UtcDateTime(required=True)
    started_at = UtcDateTime(required=True, allow_none=True)
    finished_at = UtcDateTime(required=True, allow_none=True)


class WholeTournamentView(TournamentView):
    entries = fields.Nested(EntriesView, required=True, metadata={"description": "how many; see /entries"})
    preflight_until = UtcDateTime(
        required=True,
        allow_none=True,
        metadata={"description": "while bots are called before the first stage: how long it waits for them"},
    )
    progress = fields.Nested(ProgressView, required=True)
    tie_breaks = fields.List(
        fields.String(), required=True, metadata={"description": "what decides places, in this order"}
    )
    draw = fields.String(
        attribute="public_draw_key",
        required=True,
        allow_none=True,
        metadata={"description": "32 bytes in hex that decided every lot; null until the event is over"},
    )
