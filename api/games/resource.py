"""The games that can be played."""

from typing import Any

from flask import Response

from api.games.schemas import GameView
from api.pagination import everything, list_of
from api.views import Resource
from referee.games import catalogue, game
from referee.games.options import Option
from referee.games.state import State
from referee.rulebook import rules_page

resource = Resource("games", "/api/v1/games", "The catalogue of games with their options.")


@resource.on("GET")
@resource.anyone
@resource.gives(list_of(GameView))
def list_games() -> Any:
    """All games"""
    return everything([described(rules) for rules in catalogue().values()])


@resource.on("GET", "/<name>")
@resource.anyone
@resource.gives(GameView)
def show(name: str) -> Any:
    """A game with its options"""
    return described(game(name))


@resource.on("GET", "/<name>/rules")
@resource.anyone
@resource.gives_file("text/markdown", "The page as Markdown.")
def rules(name: str) -> Response:
    """How a game is played, for bot authors"""
    return Response(rules_page(name), mimetype="text/markdown")


def described(rules: type[State]) -> dict[str, Any]:
    return {
        "name": rules.name,
        "rules_version": rules.rules_version,
        "seats": {"minimum": rules.seats[0], "maximum": rules.seats[-1]},
        "options": [option_view(option) for option in rules.option_specs],
    }


def option_view(option: Option) -> dict[str, Any]:
    view: dict[str, Any] = {"name": option.name, "type": option.kind, "default": option.default, "help": option.help}
    match option.kind:
        case "int":
            view |= {"minimum": option.low, "maximum": option.high}
        case "choice" | "list":
            view |= {"choices": list(option.choices)}
    return view
