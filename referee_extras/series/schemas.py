"""Define the schemas of series and of their standings."""

from typing import Any

from marshmallow import validate

from api import fields
from api.fields import (
    Changes,
    CheckedText,
    Exact,
    Id,
    Strict,
    StrictBool,
    StrictInt,
    Title,
    UtcDateTime,
    View,
)
from api.pagination import PageQuery
from referee.tournaments.announcement import MAX_DESCRIPTION_LENGTH, validate_description
from referee.tournaments.states import TournamentState
from referee_extras.series.operations import MAX_PLACES, MAX_POINTS, MAX_TOURNAMENTS

TERMS = {
    "description": "Text in Markdown, shown on the page of the series. Null for none.",
    "points": "Points for the ranks from 1, which never increase; bots on lower ranks get none. Bots that share a rank "
    "share the points of the places that they take. Default: 25, 18, 15, 12, 10, 8, 6, 4, 2, 1.",
    "best": "Number of the best results of each bot that count; null if all count. Default: null.",
    "listed": "Whether the series is in lists. A listed series contains listed tournaments only; without the role of "
    "an organiser, an account runs unlisted ones only. Default: true.",
}


class SeriesBody(Strict):
    """Describe the terms of a series in a request."""

    name = Title()
    description = CheckedText(validate_description, MAX_DESCRIPTION_LENGTH, TERMS["description"])
    points = fields.List(StrictInt(low=0, high=MAX_POINTS), TERMS["points"], validate=validate.Length(1, MAX_PLACES))
    best = StrictInt(1, MAX_TOURNAMENTS, TERMS["best"], allow_none=True)


class NewSeries(SeriesBody):
    name = Title(required=True)
    listed = StrictBool(TERMS["listed"])


class SeriesChanges(SeriesBody, Changes):
    """Describe the terms of a series that an edit changes."""


class AddedTournaments(Strict):
    tournaments = fields.List(
        Id("trn"),
        "Ids of tournaments that you run, in the order in which they are to be added.",
        required=True,
        validate=validate.Length(min=1, max=MAX_TOURNAMENTS),
    )


class SeriesQuery(PageQuery):
    organiser = Id("acc", "Return only series that this account runs.")


class SeriesView(View):
    id = fields.String()
    name = fields.String()
    description = fields.String(TERMS["description"], allow_none=True)
    points = fields.List(fields.Integer(), TERMS["points"])
    best = fields.Integer(TERMS["best"], allow_none=True)
    listed = fields.Boolean()
    organiser = fields.String(
        "Account that created it or took it over; null if no organiser is left.",
        attribute="created_by",
        allow_none=True,
    )
    created_at = UtcDateTime()


class SeriesTournamentView(View):
    id = fields.String()
    name = fields.String()
    game = fields.String()
    format = fields.String()
    status = fields.OneOf(TournamentState)
    finished_at = UtcDateTime(allow_none=True)


class SeriesOrganiserView(View):
    id = fields.String()
    name = fields.String()


class WholeSeriesView(SeriesView):
    organisers = fields.List(fields.Nested(SeriesOrganiserView), "Accounts that run the series.")
    tournaments = fields.List(fields.Nested(SeriesTournamentView), "Tournaments in order; those finished bring points.")


class SeriesResultView(View):
    tournament = fields.String()
    rank = fields.Integer("Rank in the standings of the tournament.")
    points = fields.Float()
    points_exact = Exact("points")
    counts = fields.Boolean("Whether it is among the best results, which count.")


class SeriesStandingView(View):
    rank = fields.Integer()
    bot = fields.String()
    name = fields.String("The bot's present name.", attribute="person.name")
    owner = fields.String(attribute="person.owner_id")
    owner_name = fields.String()
    points = fields.Float("Points of the results that count.")
    points_exact = Exact("points", metadata={"description": "The exact value as a fraction.", "example": "43/2"})
    results = fields.List(fields.Nested(SeriesResultView), "Results in the order of the tournaments.")


def dump_rows(rows: Any) -> list[dict[str, Any]]:
    """Return rows of the standings in the format of the API."""
    return list(SeriesStandingView(many=True).dump(rows))
