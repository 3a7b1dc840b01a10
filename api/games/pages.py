"""Serve the pages of games: the list, and each game's rules, ladders and tournaments."""

from functools import cache

from flask import Response

from api.games.sample import sample_position
from api.games.schemas import GameView
from api.pages import guides
from api.pages.markdown import Rendered, render_markdown
from api.pages.page import Pages, page
from api.views import current_session
from referee.games import catalogue, game
from referee.ladders import ratings
from referee.matches import matches
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.states import MatchState
from referee.rulebook import rules_page
from referee.tournaments import tournaments
from referee.viewer.presentation import presentations, steps, table_module
from referee.workflows.publishing.featured import find_finished

pages = Pages("games", __name__)

RECENT = 50  # matches, of which one worth watching is chosen
LISTED = 8  # most ladders, and most tournaments, on the page of a game


@pages.view("/games")
def contents() -> Response:
    running = matches.count_running_by_game(current_session())
    ladders = ratings.count_ladders_by_game(current_session())
    entries = [
        {"name": name, "seats": (rules.seats[0], rules.seats[-1]), "lead": lead(name)}
        | {"matches": running.get(name, 0), "ladders": ladders.get(name, 0)}
        for name, rules in catalogue().items()
    ]
    return page("games/list.html", entries=entries, guides=guides.guides())


@pages.view("/games/<name>")
def show(name: str) -> Response:
    rules = game(name)
    rated = MatchFilter(status=MatchState.FINISHED, game=name, rated=True)
    return page(
        "games/page.html",
        name=name,
        rules=rulebook(name),
        described=GameView().dump(rules),
        good=find_finished(current_session(), rated, limit=RECENT),
        steps=steps(name),
        sample={**sample_position(name), "presentations": {name: presentations()[name]}}
        if table_module(name)
        else None,
        ladders=ratings.list_ladders(current_session(), game=name, limit=LISTED),
        tournaments=tournaments.list_tournaments(current_session(), game=name, limit=LISTED),
    )


@cache
def rulebook(name: str) -> Rendered:
    """Return the rules of the game as HTML."""
    return render_markdown(rules_page(name), guides.address_in("docs/games"))


@cache
def lead(name: str) -> str:
    """Return the first paragraph of the game's rules, without its last sentences if they name the rules version."""
    paragraph = rules_page(name).split("\n\n")[1].replace("\n", " ").replace("*", "")
    return paragraph.rsplit(". ", 2)[0] + "." if "rules version" in paragraph else paragraph
