"""Define the schemas of tournaments: terms and progress. ``entry_schemas`` and ``round_schemas`` define others."""

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from api.fields import (
    Id,
    NextMinute,
    OptionalBody,
    Part,
    PlainText,
    StrictBool,
    StrictInt,
    Title,
    UtcDateTime,
    UtcDateTimeInput,
    View,
    describe,
    member_of,
)
from api.games.schemas import GAMES, check_options
from api.matches.schemas import MAX_SEATS, TimeView
from api.pagination import PageQuery
from api.tournaments.announcement_schemas import AnnouncementBody, AnnouncementView
from referee.house.players import LEVEL_ADDRESSES
from referee.matches.states import DealSharing
from referee.pairing.kinds import SeatOrders, TournamentFormat
from referee.tournaments.round_times import MAX_ROUND_TIMES
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import NO_LIMIT
from referee.tournaments.terms import MAX_CYCLES, MAX_ENTRIES_BY_FORMAT, MAX_ROUND_MINUTES
from referee.workflows.voids.voiding import MAX_REASON_LENGTH

MOST_ENTRIES = max(MAX_ENTRIES_BY_FORMAT.values())
TERMS = {
    "format": "Format, which decides the pairings. Default: `round_robin`.",
    "format_options": "Options of the format. Those left out have default values. swiss: {rounds}; knockout: {seeding, "
    "advance, best_of, tie_breaks, third_place}; gauntlet: {champion}.",
    "cycles": "How often each pairing is played, in round robins and gauntlets. Default: 1.",
    "rated": "Whether results count on the ladder. Default: true.",
    "deal_sharing": "Which matches share cards. `own`: none. `common`: all tables of a round, and no bot plays a deal "
    "twice. `duplicate`: the same bots play the same cards in other seats. Default: `common` if rated, else `own`.",
    "orders": "Orders of seats in duplicate deals. `cyclic`: each bot once in every seat. `all`: all orders. Default: "
    "`cyclic`.",
    "trusted": "Rate duplicate deals, although a bot with a memory could recognise the cards. Default: false.",
    "anonymous": "Hide the players of a rated match, also from its opponents, until it is over. Default: true.",
    "late_entry": "Accept entries after the start. Late entries play from the next round on. Default: false.",
    "frozen_version": "Take the seats from a bot that changes its version. Default: false.",
    "bots_per_owner": "Number of bots that an owner may enter; 1000 is no limit. Default: 1 if rated, else 1000.",
    "min_seats": "Smallest number of seats at a table. If the bots do not fill tables of `seats`, they share tables of "
    "nearly equal sizes, of at least this, so that nobody has a bye. If it equals `seats`, all tables are full. "
    "Default: `seats` in round robins, and with duplicate deals except in a knockout or a gauntlet; otherwise the "
    "smallest number that the game and its options allow.",
    "substitute": "House player that plays, unrated, for absent bots. Default: null (absent bots sit out).",
    "listed": "Whether the tournament is in lists, in the search and in overviews. Otherwise it and its matches are "
    "found by their addresses only; it must be unrated. Default: true.",
    "approval": "Whether the organiser approves each entry. Owners then use `POST …/requests`. Default: false.",
    "max_entries": "Largest number of entries; null for the limit of the format. Default: null.",
    "min_entries": "Least number of entries. With fewer at `starts_at`, the tournament is cancelled; before, it cannot "
    "be started. Default: null.",
    "entries_close_at": "When entries close, at the latest at `starts_at`; afterwards only the organiser enters bots. "
    "Default: null (at the start).",
    "round_minutes": "Least number of minutes from the beginning of a round to that of the next; null to begin each "
    "round when the one before is over. Default: null.",
    "round_times": "When the rounds begin, in order, at the earliest; null for no given times. A Swiss with a number "
    "of `rounds` needs a time for each. Rounds after the last begin when the one before is over. Not together with "
    "`round_minutes`. In a running tournament, times of rounds that have not begun can be changed. Default: null.",
    "starts_at": "When the tournament starts automatically; null to start it manually. If there are too few bots at "
    "that time, it does not start: this becomes null, and `status_reason` says why.",
}


class TermsBody(AnnouncementBody):
    """Describe the terms of a tournament in a request."""

    name = Title()
    seats = StrictInt(low=1, high=MAX_SEATS, metadata=describe("Number of seats at each table."))
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
    bots_per_owner = StrictInt(low=1, high=NO_LIMIT, allow_none=True, metadata=describe(TERMS["bots_per_owner"]))
    min_seats = StrictInt(low=1, high=MAX_SEATS, allow_none=True, metadata=describe(TERMS["min_seats"]))
    substitute = fields.String(
        allow_none=True, validate=validate.OneOf(LEVEL_ADDRESSES), metadata=describe(TERMS["substitute"])
    )
    listed = StrictBool(metadata=describe(TERMS["listed"]))
    approval = StrictBool(metadata=describe(TERMS["approval"]))
    max_entries = StrictInt(low=2, high=MOST_ENTRIES, allow_none=True, metadata=describe(TERMS["max_entries"]))
    min_entries = StrictInt(low=2, high=MOST_ENTRIES, allow_none=True, metadata=describe(TERMS["min_entries"]))
    entries_close_at = UtcDateTimeInput(allow_none=True, metadata=describe(TERMS["entries_close_at"]))
    round_minutes = StrictInt(low=1, high=MAX_ROUND_MINUTES, allow_none=True, metadata=describe(TERMS["round_minutes"]))
    round_times = fields.List(
        UtcDateTimeInput(),
        allow_none=True,
        validate=validate.Length(1, MAX_ROUND_TIMES),
        metadata=describe(TERMS["round_times"]),
    )
    starts_at = UtcDateTimeInput(allow_none=True, metadata=describe(TERMS["starts_at"]))
    time = fields.Nested(TimeView)


class NewTournament(TermsBody):
    name = Title(required=True)
    game = fields.String(required=True, validate=validate.OneOf(GAMES))
    seats = StrictInt(low=1, high=MAX_SEATS, required=True, metadata=describe("Number of seats at each table."))
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
    reason = PlainText(
        MAX_REASON_LENGTH, load_default=None, metadata=describe("Reason, shown to everyone as `status_reason`.")
    )


class TournamentQuery(PageQuery):
    status = fields.String(validate=member_of(TournamentState))
    game = fields.String(validate=validate.OneOf(GAMES))
    organiser = Id("acc", metadata=describe("Return only tournaments that this account runs."))


class OrganiserView(View):
    id = fields.String()
    name = fields.String()


class ProgressView(View):
    done = fields.Integer(metadata=describe("Number of matches that are over."))
    total = fields.Integer(metadata=describe("Number of all matches, including matches that are not created yet."))
    by_status = fields.Dict(
        keys=fields.String(), values=fields.Integer(), metadata=describe("Number of matches by status.")
    )
    tournament_round = fields.Integer(
        metadata=describe("The earliest round that is not over; 0 before the first round.")
    )
    rounds = fields.Integer(metadata=describe("Number of rounds paired so far."))
    estimated_end = NextMinute(
        allow_none=True,
        metadata=describe("Estimated time of the end, rounded up to a minute; null if there is no estimate."),
    )


class EntriesView(View):
    entered = fields.Integer(metadata=describe("Number of entered bots, without withdrawn ones."))
    withdrawn = fields.Integer()
    asked = fields.Integer(
        metadata=describe("Number of bots that were called before the start and have not answered yet.")
    )
    ready = fields.Integer(metadata=describe("Number of bots that answered the preflight call."))
    absent = fields.Integer(metadata=describe("Number of bots that could not be reached."))
    substitutes = fields.Integer(metadata=describe("Number of bots for which a substitute plays now."))
    disqualified = fields.Integer(metadata=describe("Number of disqualified bots."))


class TournamentView(View):
    id = fields.String()
    name = fields.String()
    game = fields.String()
    options = fields.Dict()
    seats = fields.Integer(metadata=describe("Number of seats at a full table."))
    min_seats = fields.Integer(
        metadata=describe("Smallest number of seats at a table; `seats` if all tables are full.")
    )
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
    bots_per_owner = fields.Integer(metadata=describe("Number of bots that an owner may enter; 1000 is no limit."))
    substitute = fields.String(allow_none=True)
    listed = fields.Boolean()
    approval = fields.Boolean(metadata=describe("Whether the organiser approves each entry."))
    max_entries = fields.Integer(allow_none=True)
    min_entries = fields.Integer(allow_none=True)
    entries_close_at = UtcDateTime(allow_none=True)
    round_minutes = fields.Integer(allow_none=True)
    round_times = fields.List(UtcDateTime(), allow_none=True)
    starts_at = UtcDateTime(allow_none=True)
    time = Part(TimeView)
    status = fields.String(validate=member_of(TournamentState))
    status_reason = fields.String(
        allow_none=True, metadata=describe("Why the tournament was cancelled or could not start.")
    )
    organiser = fields.String(
        attribute="created_by",
        allow_none=True,
        metadata=describe("Account that created it or took it over; null if no organiser is left."),
    )
    created_at = UtcDateTime()
    started_at = UtcDateTime(allow_none=True)
    finished_at = UtcDateTime(allow_none=True)


class WholeTournamentView(AnnouncementView, TournamentView):
    organisers = fields.List(fields.Nested(OrganiserView), metadata=describe("Accounts that run the tournament."))
    requires_code = fields.Boolean(
        metadata=describe("Whether accounts that are no guests need a join code to enter bots.")
    )
    has_guests = fields.Boolean(metadata=describe("Whether there is a list of accounts that may enter bots."))
    entries = fields.Nested(EntriesView, metadata=describe("Numbers of entries. GET …/entries lists them."))
    table_sizes = fields.List(
        fields.Integer(),
        metadata=describe("Numbers of seats at the tables of a round of all entered bots, the largest first."),
    )
    preflight_until = UtcDateTime(
        allow_none=True,
        metadata=describe(
            "Until when the tournament waits for bots called before the first round; null at any other time."
        ),
    )
    next_round_at = UtcDateTime(
        allow_none=True, metadata=describe("When the next round begins, if it waits for its time; otherwise null.")
    )
    progress = fields.Nested(ProgressView)
    tie_breaks = fields.List(fields.String(), metadata=describe("Tie-breaks in the order in which they apply."))
    voided_matches = fields.Integer(
        metadata=describe("Number of matches that were voided after their end. GET /voids?tournament=… lists them.")
    )
    draw = fields.String(
        attribute="public_draw_key",
        allow_none=True,
        metadata=describe("The seed of all random decisions, 32 bytes in hex; null until the tournament is over."),
    )
