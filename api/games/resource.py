"""Serve the catalogue of games over HTTP."""

from typing import Any

from flask import Response

from api.auth import anyone
from api.games.schemas import GameView
from api.pagination import list_of, single_page
from api.views import Resource
from referee.games import catalogue, game
from referee.rulebook import rules_page

resource = Resource("games", "/api/v1/games", "The catalogue of games with their options.")


@resource.get("", anyone, list_of(GameView), transaction=None)
def list_games() -> Any:
    """List all games

    All are on one page, each with its options, numbers of seats and the version of its rules.
    """
    return single_page(list(catalogue().values()))


@resource.get("/<name>", anyone, GameView, transaction=None)
def show(name: str) -> Any:
    """Get a game with its options

    Each option has its type, default value and limits. An unknown game is a 404.
    """
    return game(name)


@resource.get("/<name>/rules", anyone, transaction=None)
@resource.file_response("text/markdown", "The rules as Markdown.")
def rules(name: str) -> Response:
    """Get the rules of a game, for bot authors

    The page is the specification of the game: rulings, phases, actions, observations and options. An unknown game is a
    404.
    """
    return Response(rules_page(name), mimetype="text/markdown")
