"""Serve the page of openings that ended without a deal."""

from typing import Final

from flask import Response, request
from markupsafe import Markup

from api.pages.page import Pages, page
from api.pages.paging import cursor_links
from api.pages.parameters import load_query
from api.pagination import read_cursor
from api.views import current_session
from referee.matches.deals import ended_openings
from referee_extras.openings.resource import OpeningQuery, list_openings, opening_filter

pages = Pages("openings", __name__, template_folder="templates")

OPENINGS_PER_PAGE: Final = 30
FILTERS: Final = ("bot", "tournament", "ladder")


@pages.view("/openings", *FILTERS, "cursor")
def contents() -> Response:
    """Show the list of ended openings, newest first."""
    query = {**load_query(OpeningQuery), "limit": OPENINGS_PER_PAGE}
    found = list_openings({**query, "cursor": read_cursor(query)})
    return page(
        "openings/list.html",
        openings=found.items,
        count=ended_openings.count_ended_openings(current_session(), opening_filter(query)),
        filters=[(name, request.args[name]) for name in FILTERS if request.args.get(name)],
        **cursor_links(found, query),
    )


def link_to_list(*, filter: str) -> Markup:
    """Return the link beside the number of ended openings that pass a filter of the page, such as ``bot=ID``."""
    return Markup('<a href="/openings?{}">list</a>').format(filter)
