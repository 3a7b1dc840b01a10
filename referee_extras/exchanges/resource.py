"""Serve what owners gained from each other on a ladder in a month over HTTP, as JSON and as a CSV table."""

from collections.abc import Iterator
from datetime import date
from functools import partial
from typing import Any, Final

from flask import Response

from api import fields
from api.auth import anyone
from api.downloads.files import cells_by_page, csv_of
from api.downloads.sending import BUSY, send_file
from api.extended import Extended
from api.fields import Rounded, View
from api.pagination import PageQuery, envelope, read_cursor
from api.views import Resource, current_session, database
from referee.csv_table import Cells, cell
from referee.db.engine import Database
from referee.ladders import ratings
from referee.timestamps import format_month
from referee_extras.exchanges.listing import ExchangedPoints, list_exchanges


class ExchangeView(View):
    owner = fields.String("Id of the account whose bots gained.", attribute="owner_id")
    owner_name = fields.String()
    loser = fields.String(
        "Id of the account whose bots lost; null for the house players.", attribute="loser_id", allow_none=True
    )
    loser_name = fields.String(allow_none=True)
    encounters = fields.Integer("How often a bot of one met a bot of the other, or a house player.")
    points = Rounded(
        1,
        "What the one gained from the other by the rating formula with K 20, before the daily caps. An owner who lost "
        "to the house players has a negative number.",
    )
    chance = Rounded(1, "How many points chance explains: the standard deviation of the gain if ratings are right.")
    deviation = Rounded(2, "`points` divided by `chance`; more than 4 deserves a look.")


class ExchangePageView(View):
    ladder = fields.String(attribute="id")
    ladder_name = fields.String(attribute="name")
    month = fields.String("The month in UTC, such as `2026-11`.")
    items = fields.List(fields.Nested(ExchangeView), "Pairs of owners, those that chance explains least first.")
    next = fields.String("The cursor of the next page; null on the last page.", allow_none=True)


COLUMNS: Final = ("owner", "owner_name", "loser", "loser_name", "encounters", "points", "chance", "deviation")


def exchanges_csv(database: Database, ladder_id: str, month: date) -> Iterator[bytes]:
    """Yield what owners gained from each other in a month as a CSV table."""
    load = partial(list_exchanges, ladder_id=ladder_id, month=month)
    return csv_of(COLUMNS, cells_by_page(database, load, _cells))


def _cells(row: ExchangedPoints) -> Cells:
    return (
        *(row.owner_id, cell(row.owner_name), row.loser_id, row.loser_name and cell(row.loser_name)),
        *(row.encounters, round(row.points, 1), round(row.chance, 1), round(row.deviation, 2)),
    )


resource = Resource("exchanges", "/api/v1/ladders", "Points that the bots of owners gained from each other.")


@resource.get('/<id("lad"):ladder_id>/exchanges/<month:month>', anyone, ExchangePageView, query=PageQuery)
def show_exchanges(query: dict[str, Any], ladder_id: str, month: date) -> Any:
    """Get what owners gained from each other in a month, what chance explains least first

    Each pair of owners has one row, from the side of the one who gained. Points are those of the rating formula,
    before the daily caps. A month without results has no rows. Results from before the service counted exchanges are
    left out.
    """
    ladder = ratings.get_ladder(current_session(), ladder_id)
    page = list_exchanges(current_session(), ladder_id, month, limit=query["limit"], cursor=read_cursor(query))
    return Extended(ladder, month=format_month(month), **envelope(page, query))


@resource.get(
    '/<id("lad"):ladder_id>/exchanges/<month:month>.csv',
    anyone,
    documents={"responses": BUSY},
    transaction=None,
)
@resource.file_response("text/csv", "Pairs of owners, those that chance explains least first.")
def download_csv(ladder_id: str, month: date) -> Response:
    """Download what owners gained from each other in a month, for spreadsheets

    The CSV file has the rows and columns of `GET /ladders/{ladder_id}/exchanges/{month}`.
    """
    with database().read() as session:
        ratings.get_ladder(session, ladder_id)
    name = f"{ladder_id}-exchanges-{format_month(month)}.csv"
    return send_file("text/csv", name, partial(exchanges_csv, database(), ladder_id, month))
