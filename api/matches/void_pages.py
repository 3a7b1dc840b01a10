"""Serve the page of voids of ended matches and of proposals of voids."""

from typing import Final

from flask import Response, request

from api.matches.void_presentation import present_voids
from api.matches.void_schemas import VoidQuery
from api.pages.page import Pages, page
from api.pages.paging import cursor_links
from api.pages.parameters import load_query
from api.pagination import read_cursor
from api.views import current_session
from referee.matches import voids
from referee.matches.states import VoidState
from referee.matches.voids import VoidFilter
from referee.tournaments import tournaments

pages = Pages("voids", __name__)

VOIDS_PER_PAGE: Final = 30
FILTERS: Final = ("match", "tournament", "state")


@pages.view("/voids", *FILTERS, "cursor")
def contents() -> Response:
    """Show the list of voids and proposals, newest first."""
    query = {**load_query(VoidQuery), "limit": VOIDS_PER_PAGE}
    wanted = VoidFilter(**{name: value for name, value in query.items() if name not in ("limit", "cursor")})
    found = voids.list_voids(current_session(), wanted, limit=VOIDS_PER_PAGE, cursor=read_cursor(query))
    tournament_id = wanted.tournament_id
    return page(
        "voids/list.html",
        voids=present_voids(found.items),
        count=voids.count_voids(current_session(), wanted),
        filters=[(name, request.args[name]) for name in FILTERS if request.args.get(name)],
        tournament=tournament_id and tournaments.get_visible_tournament(current_session(), tournament_id).name,
        wanted=wanted,
        states=[*VoidState],
        **cursor_links(found, query),
    )
