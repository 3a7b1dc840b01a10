"""Schemas of tournaments: terms and progress. ``entry_schemas`` has those of entries, ``round_schemas`` of rounds."""

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
    View,
    describe,
    member_of,
)
from api.games.schemas import GAMES, check_options
from api.matches.schemas import MAX_SEATS, TimeView
from api.pagination import PageQuery
from referee.house.strategies import players
from referee.matches.states import DealSharing
from referee.pairing.kinds import SeatOrders, TournamentFormat
from referee.tournaments.states import TournamentState
from referee.tournaments.terms import MAX_CYCLES
from referee.workflows.voiding import MAX_REASON_LENGTH

TERMS = {
    "format": "who meets whom; round_robin unless given",
    "format_options": "of the format; what is left out has its usual value: swiss {rounds}, knockout {seeding, "
    "advance, best_of, tie_breaks, third_place}, gauntlet {champion}, ladder {at_once, per_bot, spread}",
    "cycles": "how often everybody meets everybody, in formats where everybody does; 1 unless given",
    "rated": "whether results count on the ladder; true unless given",
    "deal_sharing": "own: each match has cards of its own. common: the tables of a round share their cards, and "
    "nobody meets a deal twice. duplicate: the same bots play the same cards in every order of seats. common where the "
    "event is rated, else own, unless given",
    "orders": "of seats in duplicate deals: each bot once on every seat (cyclic, unless given), or all orders",
    "trusted": "rate duplicate deals although a bot with a memory could recognise the cards; false unless given",
    "anonymous": "hide who plays a rated match, from its opponents too, until it is over; true unless given",
    "late_entry": "take entries after the start, which play from the next round on; false unless given",
    "frozen_version": "a bot that changes its version loses its seats; false unless given",
    "substitute": "house player that plays for absent bots, unrated; null unless given: nobody does",
    "starts_at": "when it starts automatically; null: when its organiser starts it. If there are too few bots at that "
    "time, it does not start: this becomes null, `status_reason` says why, and it waits for its organiser",
}


class TermsBody(Strict):
    """The terms of a tournament in a request."""

    name = Name()
    seats = StrictInt(low=1, high=MAX_SEATS, metadata=describe("Seats at each table."))
    options = fields.Dict(keys=fields.String(), metadata=describe("Options of the game; see GET /games."))
    format = fields.String(validate=member_of(TournamentFormat), metadata=describe(TERMS["format"]))
    format_options = fields.Dict(keys=fields.String(), metadata=describe(TERMS["format_options"]))
    cycles = StrictInt(low=1, high=MAX_CYCLES, metadata=describe(TERMS["cycles"]))
    rated = StrictBool(metadata=describe(TERMS["rated"]))
    deal_sharing = fields.String(validate=member_of(DealSharing), metadata=describe(TERMS["deal_sharing"]))
    orders = fields.String(validate=member_of(SeatOrders), metadata=describe(TERMS["orders"]))
    trusted = StrictBool(metadata=describe(TERMS["trusted"]))
    anonymous = StrictBool(metadata=describe(TERMS["anonymous"]))
    late_entry = StrictBool(metadata=describe(TERMS["late_entry"]))
    frozen_version = StrictBool(metadata=describe(TERMS["frozen_version"]))
    substitute = fields.String(
        allow_none=True, validate=validate.OneOf(list(players())), metadata=describe(TERMS["substitute"])
    )
    starts_at = UtcDateTimeInput(allow_none=True, metadata=describe(TERMS["starts_at"]))
    time = fields.Nested(TimeView)


class NewTournament(TermsBody):
    name = Name(required=True)
    game = fields.String(required=True, validate=validate.OneOf(GAMES))
    seats = StrictInt(low=1, high=MAX_SEATS, required=True, metadata=describe("Seats at each table."))
    options = fields.Dict(
        keys=fields.String(), load_default=dict, metadata=describe("Options of the game; see GET /games.")
    )
    time = fields.Nested(TimeView, load_default=lambda: TimeView().load({}))

    @validates_schema
    def fits_the_game(self, tournament: dict[str, Any], **_: object) -> None:
        check_options(tournament["game"], tournament["seats"], tournament["options"], seats_field="seats")


class TournamentChanges(TermsBody):
    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("Give at least one field to change.")


class CancelTournament(OptionalBody):
    reason = PlainText(MAX_REASON_LENGTH, load_default=None, metadata=describe("Shown to everyone as `status_reason`."))


class TournamentQuery(PageQuery):
    status = fields.String(validate=member_of(TournamentState))
    game = fields.String(validate=validate.OneOf(GAMES))


class ProgressView(View):
    done = fields.Integer(metadata=describe("Matches that are over."))
    total = fields.Integer(metadata=describe("All matches, including those not created yet."))
    by_status = fields.Dict(keys=fields.String(), values=fields.Integer(), metadata=describe("Matches by status."))
    tournament_round = fields.Integer(
        allow_none=True, metadata=describe("the earliest that is not over; 0 before the first; null in a ladder")
    )
    rounds = fields.Integer(metadata=describe("Number of rounds paired so far."))
    estimated_end = NextMinute(
        allow_none=True,
        metadata=describe("Estimated from the last matches, to the minute; null if it cannot be estimated."),
    )


class EntriesView(View):
    entered = fields.Integer(metadata=describe("Bots that have not been withdrawn."))
    withdrawn = fields.Integer()
    asked = fields.Integer(metadata=describe("Bots called before the start that have not answered yet."))
    ready = fields.Integer(metadata=describe("Bots that answered the preflight."))
    absent = fields.Integer(metadata=describe("Bots that could not be reached."))
    substitutes = fields.Integer(metadata=describe("Entries whose seats are played by a substitute now."))


class TournamentView(View):
    id = fields.String()
    name = fields.String()
    game = fields.String()
    options = fields.Dict()
    seats = fields.Integer()
    format = fields.String(validate=member_of(TournamentFormat))
    format_options = fields.Dict()
    cycles = fields.Integer()
    rated = fields.Boolean()
    deal_sharing = fields.String(validate=member_of(DealSharing))
    orders = fields.String(validate=member_of(SeatOrders))
    trusted = fields.Boolean()
    anonymous = fields.Boolean()
    late_entry = fields.Boolean()
    frozen_version = fields.Boolean()
    substitute = fields.String(allow_none=True)
    starts_at = UtcDateTime(allow_none=True)
    time = Part(TimeView)
    status = fields.String(validate=member_of(TournamentState))
    status_reason = fields.String(allow_none=True, metadata=describe("Why it was cancelled or could not start."))
    organiser = fields.String(attribute="created_by")
    created_at = UtcDateTime()
    started_at = UtcDateTime(allow_none=True)
    finished_at = UtcDateTime(allow_none=True)


class WholeTournamentView(TournamentView):
    entries = fields.Nested(EntriesView, metadata=describe("Numbers of entries; see /entries for the list."))
    preflight_until = UtcDateTime(
        allow_none=True, metadata=describe("while bots are called before the first round: how long it waits for them")
    )
    progress = fields.Nested(ProgressView)
    tie_breaks = fields.List(fields.String(), metadata=describe("Tie-breaks in the order in which they apply."))
    draw = fields.String(
        attribute="public_draw_key",
        allow_none=True,
        metadata=describe("The seed of all random decisions, 32 bytes in hex; null until the tournament is over."),
    )
