"""Define the schemas of tournaments: terms and progress. ``entry_schemas`` and ``round_schemas`` define others."""

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from api import doc
from api.fields import Id, NextMinute, OptionalBody, Part, PlainText, Strict, UtcDateTime, View, member_of
from api.games.schemas import GAMES, check_options
from api.matches.schemas import TimeView
from api.pagination import PageQuery
from api.tournaments import term_fields
from referee.tournaments.states import TournamentState
from referee.tournaments.terms import ANNOUNCEMENT, TERMS
from referee.workflows.voids.voiding import MAX_REASON_LENGTH


class NewTournament(Strict):
    """Describe the terms of a new tournament."""

    game = fields.String(required=True, validate=validate.OneOf(GAMES))
    time = fields.Nested(TimeView, load_default=lambda: TimeView().load({}))

    class Meta(Strict.Meta):
        include = term_fields.of_body(is_new=True)

    @validates_schema
    def fits_the_game(self, tournament: dict[str, Any], **_: object) -> None:
        check_options(tournament["game"], tournament["seats"], tournament["options"], seats_field="seats")


class TournamentChanges(Strict):
    time = fields.Nested(TimeView)

    class Meta(Strict.Meta):
        include = term_fields.of_body(is_new=False)

    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("Give at least one field to change.")


class CancelTournament(OptionalBody):
    reason = doc.of(PlainText, "Reason, shown to everyone as `status_reason`.", MAX_REASON_LENGTH, load_default=None)


class TournamentQuery(PageQuery):
    status = fields.String(validate=member_of(TournamentState))
    game = fields.String(validate=validate.OneOf(GAMES))
    organiser = doc.of(Id, "Return only tournaments that this account runs.", "acc")


class OrganiserView(View):
    id = fields.String()
    name = fields.String()


class ProgressView(View):
    done = doc.integer("Number of matches that are over.")
    total = doc.integer("Number of all matches, including matches that are not created yet.")
    by_status = doc.mapping("Number of matches by status.", keys=fields.String(), values=fields.Integer())
    tournament_round = doc.integer("The earliest round that is not over; 0 before the first round.")
    rounds = doc.integer("Number of rounds paired so far.")
    estimated_end = doc.of(
        NextMinute, "Estimated time of the end, rounded up to a minute; null if there is no estimate.", null=True
    )


class EntriesView(View):
    entered = doc.integer("Number of entered bots, without withdrawn ones.")
    withdrawn = fields.Integer()
    asked = doc.integer("Number of bots that were called before the start and have not answered yet.")
    ready = doc.integer("Number of bots that answered the preflight call.")
    absent = doc.integer("Number of bots that could not be reached.")
    substitutes = doc.integer("Number of bots for which a substitute plays now.")
    disqualified = doc.integer("Number of disqualified bots.")


class TermsView(View):
    """Describe all terms of a tournament in a response."""

    game = fields.String()
    time = Part(TimeView)

    class Meta(View.Meta):
        include = term_fields.of_view(TERMS)


class TournamentView(View):
    id = fields.String()
    game = fields.String()
    time = Part(TimeView)
    status = fields.String(validate=member_of(TournamentState))
    status_reason = doc.text("Why the tournament was cancelled or could not start.", null=True)
    organiser = doc.text(
        "Account that created it or took it over; null if no organiser is left.", null=True, attribute="created_by"
    )
    created_at = UtcDateTime()
    started_at = UtcDateTime(allow_none=True)
    finished_at = UtcDateTime(allow_none=True)

    class Meta(View.Meta):
        include = term_fields.of_view(name for name in TERMS if name not in ANNOUNCEMENT)


class WholeTournamentView(TournamentView):
    class Meta(TournamentView.Meta):
        include = term_fields.of_view(TERMS)

    organisers = doc.listing("Accounts that run the tournament.", fields.Nested(OrganiserView))
    requires_code = doc.flag("Whether accounts that are no guests need a join code to enter bots.")
    has_guests = doc.flag("Whether there is a list of accounts that may enter bots.")
    entries = doc.nested("Numbers of entries. GET …/entries lists them.", EntriesView)
    table_sizes = doc.listing(
        "Numbers of seats at the tables of a round of all entered bots, the largest first.", fields.Integer()
    )
    preflight_until = doc.of(
        UtcDateTime,
        "Until when the tournament waits for bots called before the first round; null at any other time.",
        null=True,
    )
    next_round_at = doc.of(
        UtcDateTime, "When the next round begins, if it waits for its time; otherwise null.", null=True
    )
    progress = fields.Nested(ProgressView)
    tie_breaks = doc.listing("Tie-breaks in the order in which they apply.", fields.String())
    voided_matches = doc.integer(
        "Number of matches that were voided after their end. GET /voids?tournament=… lists them."
    )
    draw = doc.text(
        "The seed of all random decisions, 32 bytes in hex; null until the tournament is over.",
        null=True,
        attribute="public_draw_key",
    )
