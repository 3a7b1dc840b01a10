"""The catalogue of games: each module here that defines a game adds it."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from referee.errors import NoSuchGame
from referee.games.state import State


def _defined() -> Iterator[type[State]]:
    for found in iter_modules(__path__):
        module = import_module(f"{__name__}.{found.name}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, State) and "name" in vars(value):
                yield value


GAMES: tuple[type[State], ...] = tuple(sorted({*_defined()}, key=lambda game: game.name))


def catalogue() -> dict[str, type[State]]:
    """All games by name."""
    return {game.name: game for game in GAMES}


def game(name: str) -> type[State]:
    """The game of this name; raises ``NoSuchGame``."""
    try:
        return catalogue()[name]
    except KeyError:
        raise NoSuchGame(f"unknown game {name!r}; available: {', '.join(catalogue())}") from None
