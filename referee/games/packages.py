"""Find the games that installed packages bring: entry points of the group ``referee.games``.

An entry point has the name of the game, and its value is the module of the rules. Beside that module are the page
``page.md`` and, if there are any, ``presentation.json``, ``table.js``, ``heuristics.py`` and ``resampling.py``.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final

from referee.errors import BrokenGame
from referee.games.state import State

GROUP: Final = "referee.games"
NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class PackagedGame:
    """Represent a game of an installed package. ``package`` is the one that contains the module of its rules."""

    rules: type[State]
    package: str
    folder: Path
    distribution: str  # its name and version


def find_packaged(taken: Collection[str]) -> dict[str, PackagedGame]:
    """Return the games of installed packages, keyed by name.

    Raise ``BrokenGame`` if a game cannot be imported, or has the name of another one or one in ``taken``.
    """
    found: dict[str, PackagedGame] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        game = _load(point)
        if point.name in taken or point.name in found:
            other = found[point.name].distribution if point.name in found else "Referee itself"
            raise BrokenGame(
                f"Two games are named {point.name!r}, of {other} and of {game.distribution}. Uninstall one of them."
            )
        found[point.name] = game
    return found


def _load(point: EntryPoint) -> PackagedGame:
    distribution = f"{point.dist.name} {point.dist.version}" if point.dist else "a package without a name"
    try:
        if not NAME.fullmatch(point.name):
            raise BrokenGame("names of games have lower-case letters, digits and single hyphens")
        module = import_module(point.module)
        (rules,) = {value for value in vars(module).values() if is_game(value) and value.name == point.name}
        page = Path(str(module.__file__)).with_name("page.md")
        page.read_text(encoding="utf-8")
    except Exception as error:  # whatever the code of a package raises
        reason = f"{type(error).__name__}: {error}"
        raise BrokenGame(
            f"The game {point.name!r} of {distribution} cannot be used ({reason}). The module {point.module} must have "
            "one class of this name, and page.md beside it. Repair or uninstall the package."
        ) from error
    return PackagedGame(rules, point.module.rpartition(".")[0], page.parent, distribution)


def is_game(value: object) -> bool:
    """Return whether this is a class with the rules of a game, and no base class of games."""
    return isinstance(value, type) and issubclass(value, State) and "name" in vars(value)
