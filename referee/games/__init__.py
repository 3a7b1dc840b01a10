"""Find the games in the modules of this package and list them in a catalogue."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from referee.errors import NoSuchGame
from referee.games.state import State


def _find_games() -> Iterator[type[State]]:
    for found in iter_modules(__path__):
        module = import_module(f"{__name__}.{found.name}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, State) and "name" in vars(value):
                yield value


GAMES: tuple[type[State], ...] = tuple(sorted({*_find_games()}, key=lambda game: game.name))


def catalogue() -> dict[str, type[State]]:
    """Return all games, keyed by name."""
    return {game.name: game for game in GAMES}


def game(name: str) -> type[State]:
    """Return the game of this name. Raise ``NoSuchGame`` for an unknown name."""
    try:
        return catalogue()[name]
    except KeyError:
        raise NoSuchGame(f"unknown game {name!r}; available: {', '.join(catalogue())}") from None


def game_title(name: str) -> str:
    """Return the name of a game as a title: ``pool-nap`` as Pool Nap."""
    return name.replace("-", " ").title()
