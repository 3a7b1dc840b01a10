"""Serve the pages of what owners gained from each other on a ladder."""

from datetime import date, datetime, timedelta
from typing import Final

from flask import Response
from markupsafe import Markup

from api.pages.page import Pages, page
from api.pages.paging import cursor_links, cursor_query
from api.pagination import read_cursor
from api.views import current_session
from referee.db.engine import current_time
from referee.ladders import months, ratings
from referee.ladders.tables import Ladder
from referee.timestamps import format_month
from referee_extras.exchanges.listing import list_exchanges

pages = Pages("exchanges", __name__, template_folder="templates")

ROWS_PER_PAGE: Final = 50


@pages.view('/ladders/<id("lad"):ladder_id>/exchanges', "cursor")
def exchanges_now(ladder_id: str) -> Response:
    return _month_page(ladder_id, _this_month())


@pages.view('/ladders/<id("lad"):ladder_id>/exchanges/<month:month>', "cursor")
def exchanges_of_month(ladder_id: str, month: date) -> Response:
    return _month_page(ladder_id, month)


def link_from_ladder(*, ladder: Ladder) -> Markup:
    return Markup('<a href="/ladders/{}/exchanges">Points exchanged between owners</a>').format(ladder.id)


def _month_page(ladder_id: str, month: date) -> Response:
    query = cursor_query(ROWS_PER_PAGE)
    found = list_exchanges(current_session(), ladder_id, month, limit=ROWS_PER_PAGE, cursor=read_cursor(query))
    ladder = ratings.get_ladder(current_session(), ladder_id)
    begins_later = month > _first_day(ladder.created_at)
    return page(
        "exchanges/month.html",
        ladder=ladder,
        month=month,
        name=format_month(month),
        rows=found.items,
        earlier=format_month((month - timedelta(days=1)).replace(day=1)) if begins_later else None,
        later=format_month(months.following(month)) if month < _this_month() else None,
        **cursor_links(found, query),
    )


def _this_month() -> date:
    return _first_day(current_time(current_session()))


def _first_day(moment: datetime) -> date:
    return date(moment.year, moment.month, 1)
