"""Serve the directory of bots, and the pages of owners with their bots."""

from typing import Any, Final

from flask import Response

from api.pages.page import Pages, page
from api.pages.paging import cursor_links, cursor_query
from api.pages.parameters import choice
from api.pagination import read_cursor
from api.views import current_session
from referee.bots import owners
from referee.bots.states import BotState
from referee.figures import count
from referee.games import catalogue, game_title
from referee.labels import state_label
from referee.ladders import directory
from referee.ladders.kinds import Level

pages = Pages("bot-directory", __name__)

BOTS_PER_PAGE: Final = 30
LEVELS: Final = {
    Level.RATED: "rated",
    Level.BELOW_1400: f"below {count(1_400)}",
    Level.FROM_1400_TO_1600: f"{count(1_400)} to {count(1_600)}",
    Level.ABOVE_1600: f"{count(1_600)} and above",
    Level.UNRATED: "unrated",
}
ACTIVITIES: Final = {"1": "in the last day", "7": "in the last 7 days", "30": "in the last 30 days"}
PRESENT: Final = frozenset(BotState) - {BotState.RETIRED}


@pages.view("/bots", "active_days", "cursor", "game", "level", "status")
def bots() -> Response:
    """Show all bots that are not retired, newest first, or those that pass the filters."""
    filters = (
        ("game", "Game", "all games", {name: game_title(name) for name in sorted(catalogue())}),
        ("level", "Level", "all levels", LEVELS),
        ("active_days", "Rating changed", "at any time", ACTIVITIES),
        ("status", "State", "all but retired", {state: state_label(state) for state in BotState}),
    )
    given = {name: choice(name, list(options)) for name, _, _, options in filters}
    chosen = {name: value for name, value in given.items() if value is not None}
    wanted: dict[str, Any] = {"status": PRESENT, **chosen}
    if "active_days" in chosen:
        wanted["active_days"] = int(chosen["active_days"])
    return page("bots/list.html", **_page_of_bots(wanted, chosen), chosen=chosen, filters=filters)


@pages.view('/owners/<id("acc"):owner_id>', "cursor")
def owner(owner_id: str) -> Response:
    """Show an owner with all of their bots, newest first."""
    found = owners.get_owner(current_session(), owner_id)
    return page("owners/owner.html", owner=found, **_page_of_bots({"owner_id": owner_id}, {"owner": owner_id}))


def _page_of_bots(wanted: dict[str, Any], chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the listings of the requested page as template values. Its cursor is valid for ``chosen`` only."""
    query = cursor_query(BOTS_PER_PAGE, **chosen)
    found = directory.list_bots(current_session(), **wanted, limit=BOTS_PER_PAGE, cursor=read_cursor(query))
    listings = directory.load_listings(current_session(), found.items)
    return {"listings": listings, **cursor_links(found, query)}
