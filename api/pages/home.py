"""The first page: what this is, what is going on, how to take part."""

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, current_app

from api.ladders.schemas import points
from api.pages.page import page, page_view
from api.presentation import match_views
from api.views import record
from referee.bots import bots
from referee.games import catalogue
from referee.ladders import ratings
from referee.ladders.tables import Ladder
from referee.matches import matches
from referee.tournaments import progress, tournaments
from referee.tournaments.overview import Overview, overview
from referee.tournaments.tables import Tournament

pages = Blueprint("home", __name__)

MOST_EVENTS = 6  # open for entries
MOST_RESULTS = 8
TOP = 5  # of a ladder
LOOKED_AT = 50  # ladders among which each game's liveliest is looked for


@dataclass(frozen=True, slots=True)
class Top:
    """The first lines of a game's liveliest ladder."""

    ladder: Ladder
    lines: list[ratings.LadderStanding]


@pages.get("/")
@page_view
def home() -> Response:
    now = overview(record())
    results = match_views(matches.list_matches(record(), status="finished", limit=MOST_RESULTS).items)
    return page(
        "home.html",
        live=match_views(now.matches),
        events=now.events + open_events(),
        counts=now.counts,
        known=outline(now),
        tops=tops(),
        results=results,
        fresh=not now.counts["running"] and not now.counts["results"] and not bots.any_registered(record()),
        url=current_app.config["SETTINGS"].public_url,
        points=points,
    )


def outline(now: Overview) -> list[Any]:
    """Return what home.js has rendered anew when a message of the stream tells it otherwise."""
    running = [[event.id, event.status, far.total > 0] for event, far in now.events]
    return [running, now.counts["open"], now.counts["results"]]


def open_events() -> list[tuple[Tournament, progress.Progress]]:
    """Events that take entries, the newest first."""
    found = tournaments.list_tournaments(record(), status="open", limit=MOST_EVENTS).items
    return [(event, progress.progress(record(), event.id)) for event in found]


def tops() -> list[Top]:
    """Of each game the ladder on which something happened last."""
    session = record()
    ladders = ratings.list_ladders(session, limit=LOOKED_AT).items
    last = {ladder.id: ratings.last_seq(session, ladder.id) for ladder in ladders}
    liveliest: dict[str, Ladder] = {}
    for ladder in sorted(ladders, key=lambda one: last[one.id]):
        liveliest[ladder.game] = ladder
    chosen = [liveliest[game] for game in catalogue() if game in liveliest and last[liveliest[game].id]]
    return [Top(ladder, list(ratings.ladder_page(session, ladder.id, limit=TOP).page.items)) for ladder in chosen]
