"""Serve what owners gained from each other on a ladder in a month over HTTP."""

from datetime import date
from functools import partial
from typing import Any

from flask import Response

from api.auth import anyone
from api.downloads.sending import BUSY, send_file
from api.extended import Extended
from api.pagination import PageQuery, envelope, read_cursor
from api.views import Resource, current_session, database
from referee.ladders import months, ratings
from referee_extras.exchanges import files
from referee_extras.exchanges.listing import list_exchanges
from referee_extras.exchanges.schemas import ExchangePageView

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
    return Extended(ladder, month=months.format_month(month), **envelope(page, query))


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
    name = f"{ladder_id}-exchanges-{months.format_month(month)}.csv"
    return send_file("text/csv", name, partial(files.exchanges_csv, database(), ladder_id, month))
