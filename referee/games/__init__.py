"""List the games in a catalogue: those in the modules of this package, and those of installed packages."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from referee.errors import NoSuchGame
from referee.games.packages import PackagedGame, find_packaged, is_game
from referee.games.state import State


def _find_games() -> Iterator[type[State]]:
    for found in iter_modules(__path__):
        module = import_module(f"{__name__}.{found.name}")
        yield from filter(is_game, vars(module).values())


_OWN: Final = {game.name: game for game in _find_games()}
PACKAGED: Final[dict[str, PackagedGame]] = find_packaged(_OWN)
GAMES: tuple[type[State], ...] = tuple(
    sorted([*_OWN.values(), *(packaged.rules for packaged in PACKAGED.values())], key=lambda game: game.name)
)


def catalogue() -> dict[str, type[State]]:
    """Return all games, keyed by name."""
    return {game.name: game for game in GAMES}


def game(name: str) -> type[State]:
    """Return the game of this name. Raise ``NoSuchGame`` for an unknown name."""
    try:
        return catalogue()[name]
    except KeyError:
        raise NoSuchGame(
            f"unknown game {name!r}; available: {', '.join(catalogue())}. A game of a package must be installed first."
        ) from None


def has_rules(name: str, version: int) -> bool:
    """Return whether this process has a game in this version of its rules."""
    return name in catalogue() and catalogue()[name].rules_version == version


def module_beside(name: str, package: str, file: str) -> str:
    """Return the name of a module of a game: ``package.NAME``, or ``file`` in the package that brings the game."""
    if name in PACKAGED:
        return f"{PACKAGED[name].package}.{file}"
    return f"{package}.{name.replace('-', '_')}"


def game_title(name: str) -> str:
    """Return the name of a game as a title: ``pool-nap`` as Pool Nap."""
    return name.replace("-", " ").title()
