"""Serve what owners gained from each other on a ladder in a month over HTTP."""

from datetime import date
from typing import Any

from api.auth import anyone
from api.extended import Extended
from api.ladders.exchange_schemas import ExchangePageView
from api.pagination import PageQuery, envelope, read_cursor
from api.views import Resource, current_session
from referee.ladders import months, owner_exchanges, ratings

resource = Resource("exchanges", "/api/v1/ladders", "Points that the bots of owners gained from each other.")


@resource.get('/<id("lad"):ladder_id>/exchanges/<month:month>', anyone, ExchangePageView, query=PageQuery)
def show_exchanges(query: dict[str, Any], ladder_id: str, month: date) -> Any:
    """Get what owners gained from each other in a month, what chance explains least first

    Each pair of owners has one row, from the side of the one who gained. Points are those of the rating formula,
    before the daily caps. A month without results has no rows. Results from before the service counted exchanges are
    left out.
    """
    ladder = ratings.get_ladder(current_session(), ladder_id)
    page = owner_exchanges.list_exchanges(
        current_session(), ladder_id, month, limit=query["limit"], cursor=read_cursor(query)
    )
    return Extended(ladder, month=months.format_month(month), **envelope(page, query))
