"""Tournaments: what is announced, who takes part, how far it is, who leads."""

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from api.pagination import PageQuery
from api.schemas.base import Id, Moment, Name, Strict, Truth, Whole
from api.schemas.games import GAMES, check_options
from api.schemas.matches import MOST_SEATS, TimeView
from referee.store.schema import TOURNAMENT_STATES
from referee.store.tournaments import FORMATS, MAX_CYCLES


class NewTournament(Strict):
    name = Name(required=True)
    game = fields.String(required=True, validate=validate.OneOf(GAMES))
    seats = Whole(low=1, high=MOST_SEATS, required=True, metadata={"description": "of each table"})
    options = fields.Dict(keys=fields.String(), load_default=dict, metadata={"description": "see GET /games"})
    format = fields.String(load_default=FORMATS[0], validate=validate.OneOf(FORMATS))
    cycles = Whole(
        low=1, high=MAX_CYCLES, load_default=1, metadata={"description": "how often everybody meets everybody"}
    )
    rated = Truth(load_default=True)
    time = fields.Nested(TimeView, load_default=lambda: TimeView().load({}))

    @validates_schema
    def fits_the_game(self, tournament: dict[str, Any], **_: object) -> None:
        check_options(tournament["game"], tournament["seats"], tournament["options"], seats_field="seats")


class TournamentChanges(Strict):
    name = Name()
    seats = Whole(low=1, high=MOST_SEATS)
    options = fields.Dict(keys=fields.String())
    cycles = Whole(low=1, high=MAX_CYCLES)
    rated = Truth()
    time = fields.Nested(TimeView)

    @validates_schema
    def holds_something(self, changes: dict[str, object], **_: object) -> None:
        if not changes:
            raise ValidationError("give at least one field to change")


class TournamentQuery(PageQuery):
    status = fields.String(validate=validate.OneOf(TOURNAMENT_STATES))
    game = fields.String(validate=validate.OneOf(GAMES))


class EntryBody(Strict):
    bot = Id("bot", required=True)


class ProgressView(Strict):
    done = fields.Integer(required=True)
    total = fields.Integer(required=True)
    by_status = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)


class EntryView(Strict):
    bot = fields.String(required=True)
    name = fields.String(required=True)
    owner = fields.String(required=True)
    withdrawn_at = Moment(required=True, allow_none=True)


class TournamentView(Strict):
    id = fields.String(required=True)
    name = fields.String(required=True)
    game = fields.String(required=True)
    options = fields.Dict(required=True)
    seats = fields.Integer(required=True)
    format = fields.String(required=True, validate=validate.OneOf(FORMATS))
    cycles = fields.Integer(required=True)
    rated = fields.Boolean(required=True)
    time = fields.Nested(TimeView, required=True)
    status = fields.String(required=True, validate=validate.OneOf(TOURNAMENT_STATES))
    organiser = fields.String(required=True)
    created_at = Moment(required=True)
    started_at = Moment(required=True, allow_none=True)
    finished_at = Moment(required=True, allow_none=True)


class WholeTournamentView(TournamentView):
    entries = fields.List(fields.Nested(EntryView), required=True, metadata={"description": "in the order of entry"})
    progress = fields.Nested(ProgressView, required=True, metadata={"description": "matches that are over, of all"})


class TieBreakView(Strict):
    name = fields.String(required=True, metadata={"example": "buchholz"})
    value = fields.Float(required=True, allow_none=True, metadata={"description": "null: it does not apply"})
    exact = fields.String(required=True, allow_none=True, metadata={"description": "as a fraction", "example": "13/2"})


class StandingsRow(Strict):
    place = fields.Integer(required=True, metadata={"description": "shared by those whom no tie-break parts"})
    bot = fields.String(required=True)
    name = fields.String(required=True)
    owner = fields.String(required=True)
    matches = fields.Integer(required=True)
    byes = fields.Integer(required=True)
    points = fields.Float(required=True, metadata={"description": "a match gives at most 1, a tie its half"})
    points_exact = fields.String(required=True, metadata={"description": "as a fraction", "example": "7/2"})
    wins = fields.Integer(required=True, metadata={"description": "matches won alone"})
    returns = fields.Integer(required=True, metadata={"description": "gained over all matches"})
    tie_breaks = fields.List(
        fields.Nested(TieBreakView),
        required=True,
        metadata={"description": "the columns of the format, in the order in which they decide"},
    )
