"""The first page: what this is, what is going on, how to take part."""

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, current_app
from sqlalchemy import exists, select

from api.resources.ladders import points
from api.resources.matches import shown_all
from api.site.page import page, shown
from api.views import record
from referee.games import catalogue
from referee.store.events import progress, tournaments
from referee.store.ladders import ratings
from referee.store.play import matches
from referee.store.schema import Bot, Ladder, Tournament

pages = Blueprint("home", __name__)

MOST_LIVE = 12  # as many as the stream of what happens now tells
MOST_EVENTS = 6
MOST_RESULTS = 8
TOP = 5  # of a ladder
LOOKED_AT = 50  # ladders among which each game's liveliest is looked for


@dataclass(frozen=True, slots=True)
class Top:
    """The first lines of a game's liveliest ladder."""

    ladder: Ladder
    lines: list[ratings.Standing]


@pages.get("/")
@shown
def home() -> Response:
    running, finished = listed("running", MOST_LIVE), listed("finished", MOST_RESULTS)
    return page(
        "home.html",
        live=running,
        events=events(),
        tops=tops(),
        results=finished,
        fresh=not running and not finished and not has_bots(),
        url=current_app.config["SETTINGS"].public_url,
        points=points,
    )


def listed(status: str, limit: int) -> list[dict[str, Any]]:
    """The newest matches in this state, as anybody may see them."""
    return shown_all(matches.list_matches(record(), status=status, limit=limit).items)


def events() -> list[tuple[Tournament, progress.Progress]]:
    """Events to look at, those under way first."""
    session, found = record(), []
    for status in ("running", "paused", "open"):
        found += tournaments.list_tournaments(session, status=status, limit=MOST_EVENTS).items
    return [(event, progress.progress(session, event.id)) for event in found[:MOST_EVENTS]]


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


def has_bots() -> bool:
    """Whether anybody has registered a bot here."""
    return bool(record().scalar(select(exists().where(Bot.status != "house"))))
