"""Serve the final standings of the months of ladders over HTTP."""

from datetime import date
from typing import Any

from api.auth import anyone
from api.extended import Extended
from api.ladders.month_schemas import MonthPageView, MonthView
from api.pagination import PageQuery, envelope, read_cursor
from api.views import Resource, current_session
from referee.ladders import months

resource = Resource("months", "/api/v1/ladders", "Final standings of the months of ladders, with their champions.")


@resource.get('/<id("lad"):ladder_id>/months', anyone, items=MonthView, query=PageQuery)
def list_months(query: dict[str, Any], ladder_id: str) -> Any:
    """List the closed months of a ladder, newest first

    A month is closed ten minutes after its end in UTC, if a match of it counted. Nothing changes it later.
    """
    return months.list_months(current_session(), ladder_id, **query)


@resource.get('/<id("lad"):ladder_id>/months/<month:month>', anyone, MonthPageView, query=PageQuery)
def show_month(query: dict[str, Any], ladder_id: str, month: date) -> Any:
    """Get the final standings of a month, best first

    A month that is not over, or in which no match counted, is a 404.
    """
    closed = months.get_month(current_session(), ladder_id, month)
    page = months.list_rows(current_session(), closed.month, limit=query["limit"], cursor=read_cursor(query))
    return Extended(closed, **envelope(page, query))
