"""The games: what there is to play, how each is played, and where it is played just now."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from flask import Blueprint, Response
from sqlalchemy import func, select

from api.games.schemas import GameView
from api.pages import guides
from api.pages.markdown import Rendered, render_markdown
from api.pages.page import page, page_view
from api.views import record
from referee.games import catalogue, game
from referee.ladders import ratings
from referee.ladders.tables import Ladder
from referee.matches.tables import Match
from referee.rulebook import rules_page
from referee.tournaments import tournaments

pages = Blueprint("games", __name__)

LISTED = 8  # ladders and events of a game


@dataclass(frozen=True, slots=True)
class GameEntry:
    """A game in the list: its first paragraph, seats, and what happens in it."""

    name: str
    seats: tuple[int, int]
    lead: str
    running: int
    ladders: int


@pages.get("/games")
@page_view
def contents() -> Response:
    running = _counts(select(Match.game, func.count()).where(Match.status == "running").group_by(Match.game))
    ladders = _counts(select(Ladder.game, func.count()).group_by(Ladder.game))
    entries = [
        GameEntry(name, (rules.seats[0], rules.seats[-1]), lead(name), running.get(name, 0), ladders.get(name, 0))
        for name, rules in catalogue().items()
    ]
    return page("games/list.html", entries=entries, guides=guides.guides())


@pages.get("/games/<name>")
@page_view
def show(name: str) -> Response:
    rules = game(name)
    return page(
        "games/page.html",
        name=name,
        rules=rulebook(name),
        described=GameView().dump(rules),
        ladders=ratings.list_ladders(record(), game=name, limit=LISTED),
        events=tournaments.list_tournaments(record(), game=name, limit=LISTED),
    )


@cache
def rulebook(name: str) -> Rendered:
    """How the game is played."""
    return render_markdown(rules_page(name), guides.address_in("docs/games"))


@cache
def lead(name: str) -> str:
    """What the game is, in its page's own first sentences."""
    paragraph = rules_page(name).split("\n\n")[1].replace("\n", " ").replace("*", "")
    return paragraph.rsplit(". ", 2)[0] + "." if "rules version" in paragraph else paragraph


def _counts(query: Any) -> dict[str, int]:
    return {row[0]: row[1] for row in record().execute(query)}
