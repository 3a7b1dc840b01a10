"""Define the schemas of tournaments: terms and progress. ``entry_schemas`` and ``round_schemas`` define others."""

from typing import Any

from marshmallow import validates_schema

from api import fields
from api.games.schemas import GAMES, check_options
from api.matches.schemas import TimeView
from api.pagination import PageQuery
from api.tournaments import term_fields
from referee.tournaments.states import TournamentState
from referee.tournaments.terms import ANNOUNCEMENT, TERMS
from referee.workflows.voids.voiding import MAX_REASON_LENGTH


class NewTournament(fields.Strict):
    """Describe the terms of a new tournament."""

    game = fields.OneOf(GAMES, required=True)
    time = fields.Nested(TimeView, load_default=lambda: TimeView().load({}))

    class Meta(fields.Strict.Meta):
        include = term_fields.of_body(is_new=True)

    @validates_schema
    def fits_the_game(self, tournament: dict[str, Any], **_: object) -> None:
        check_options(tournament["game"], tournament["seats"], tournament["options"], seats_field="seats")


class TournamentChanges(fields.Changes):
    time = fields.Nested(TimeView)

    class Meta(fields.Changes.Meta):
        include = term_fields.of_body(is_new=False)


class CancelTournament(fields.OptionalBody):
    reason = fields.PlainText(MAX_REASON_LENGTH, "Reason, shown to everyone as `status_reason`.", load_default=None)


class TournamentQuery(PageQuery):
    status = fields.OneOf(TournamentState)
    game = fields.OneOf(GAMES)
    organiser = fields.Id("acc", "Return only tournaments that this account runs.")


class OrganiserView(fields.View):
    id = fields.String()
    name = fields.String()


class ProgressView(fields.View):
    done = fields.Integer("Number of matches that are over.")
    total = fields.Integer("Number of all matches, including matches that are not created yet.")
    by_status = fields.Dict("Number of matches by status.", keys=fields.String(), values=fields.Integer())
    tournament_round = fields.Integer("The earliest round that is not over; 0 before the first round.")
    rounds = fields.Integer("Number of rounds paired so far.")
    estimated_end = fields.NextMinute(
        "Estimated time of the end, rounded up to a minute; null if there is no estimate.", allow_none=True
    )


class EntriesView(fields.View):
    entered = fields.Integer("Number of entered bots, without withdrawn ones.")
    withdrawn = fields.Integer()
    asked = fields.Integer("Number of bots that were called before the start and have not answered yet.")
    ready = fields.Integer("Number of bots that answered the preflight call.")
    absent = fields.Integer("Number of bots that could not be reached.")
    substitutes = fields.Integer("Number of bots for which a substitute plays now.")
    disqualified = fields.Integer("Number of disqualified bots.")


class TermsView(fields.View):
    """Describe all terms of a tournament in a response."""

    game = fields.String()
    time = fields.Part(TimeView)

    class Meta(fields.View.Meta):
        include = term_fields.of_view(TERMS)


class TournamentView(fields.View):
    id = fields.String()
    game = fields.String()
    time = fields.Part(TimeView)
    status = fields.OneOf(TournamentState)
    status_reason = fields.String("Why the tournament was cancelled or could not start.", allow_none=True)
    organiser = fields.String(
        "Account that created it or took it over; null if no organiser is left.",
        allow_none=True,
        attribute="created_by",
    )
    created_at = fields.UtcDateTime()
    started_at = fields.UtcDateTime(allow_none=True)
    finished_at = fields.UtcDateTime(allow_none=True)

    class Meta(fields.View.Meta):
        include = term_fields.of_view(name for name in TERMS if name not in ANNOUNCEMENT)


class WholeTournamentView(TournamentView):
    class Meta(TournamentView.Meta):
        include = term_fields.of_view(TERMS)

    organisers = fields.List(fields.Nested(OrganiserView), "Accounts that run the tournament.")
    requires_code = fields.Boolean("Whether accounts that are no guests need a join code to enter bots.")
    has_guests = fields.Boolean("Whether there is a list of accounts that may enter bots.")
    entries = fields.Nested(EntriesView, "Numbers of entries. GET …/entries lists them.")
    table_sizes = fields.List(
        fields.Integer(), "Numbers of seats at the tables of a round of all entered bots, the largest first."
    )
    preflight_until = fields.UtcDateTime(
        "Until when the tournament waits for bots called before the first round; null at any other time.",
        allow_none=True,
    )
    next_round_at = fields.UtcDateTime(
        "When the next round begins, if it waits for its time; otherwise null.", allow_none=True
    )
    progress = fields.Nested(ProgressView)
    tie_breaks = fields.List(fields.String(), "Tie-breaks in the order in which they apply.")
    voided_matches = fields.Integer(
        "Number of matches that were voided after their end. GET /voids?tournament=… lists them."
    )
    draw = fields.String(
        "The seed of all random decisions, 32 bytes in hex; null until the tournament is over.",
        allow_none=True,
        attribute="public_draw_key",
    )
