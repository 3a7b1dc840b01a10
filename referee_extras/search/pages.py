"""Serve the page that searches bots, owners and tournaments."""

from typing import Any, Final

from flask import Response, request
from markupsafe import Markup

from api.pages.page import Pages, page
from api.pages.paging import cursor_links, cursor_query
from api.pages.parameters import choice
from api.pagination import read_cursor
from api.views import current_session
from referee.db.kinds import SearchKind
from referee.errors import BadOption
from referee_extras.search import searching
from referee_extras.search.searching import MAX_QUERY_LENGTH

pages = Pages("search", __name__, template_folder="templates")

RESULTS_PER_PAGE: Final = 30
KINDS: Final = {SearchKind.BOT: "Bots", SearchKind.OWNER: "Owners", SearchKind.TOURNAMENT: "Tournaments"}


@pages.view("/search", "cursor", "kind", "q")
def search() -> Response:
    """Show what the search finds. Say on the page what is wrong with a query that finds nothing by itself."""
    text, kind = request.args.get("q", ""), choice("kind", [*SearchKind])
    query = cursor_query(RESULTS_PER_PAGE, q=text, kind=kind)
    context: dict[str, Any] = {"found": [], "before": None, "behind": None, "problem": ""}
    if text:
        cursor = read_cursor(query)
        try:
            found = searching.search(current_session(), text, kind=kind, limit=RESULTS_PER_PAGE, cursor=cursor)
            context |= {"found": found.items, **cursor_links(found, query)}
        except BadOption as error:
            context["problem"] = f"The search {error.reason}."
    return page(
        "search/page.html",
        **context,
        text=text[: 2 * MAX_QUERY_LENGTH],
        kind=kind,
        kinds=KINDS,
        longest=MAX_QUERY_LENGTH,
    )


def navigation_entry() -> Markup:
    """Return the entry of the navigation, for windows too narrow for the form."""
    current = Markup(' aria-current="page"') if request.path == "/search" else ""
    return Markup('<li class="narrow"><a href="/search"{}>Search</a></li>').format(current)


def form_in_header() -> Markup:
    return Markup(
        '<form class="site-search" role="search" aria-label="Whole service" action="/search" method="get">'
        '<label class="unseen" for="site-search">Search bots, owners and tournaments</label>'
        '<input id="site-search" name="q" type="search" maxlength="{}" placeholder="Search" autocomplete="off">'
        "<button>Search</button></form>"
    ).format(MAX_QUERY_LENGTH)


def link_in_footer() -> Markup:
    return Markup('<li><a href="/search">Search</a></li>')
