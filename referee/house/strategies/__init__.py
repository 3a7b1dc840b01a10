"""Find the heuristics of the house players.

Those of a game are in the module of this package with the same name as the module of its rules, or in the module
``heuristics`` of the package that brings the game: ``WORTH`` for the level ``sound``, ``NOVICE`` for the level
``novice`` and, if ``WORTH`` is slow, ``QUICK`` for playing many rounds in a search.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Final

from referee.games import catalogue, module_beside
from referee.house.strategies.heuristics import WorthByPhase

_FOUND: Final = {game: module_beside(game, __name__, "heuristics") for game in catalogue()}
_MODULES: Final = {game: import_module(module) for game, module in _FOUND.items() if find_spec(module)}

SOUND: Final[dict[str, WorthByPhase]] = {game: module.WORTH for game, module in _MODULES.items()}
NOVICE: Final[dict[str, WorthByPhase]] = {game: getattr(module, "NOVICE", {}) for game, module in _MODULES.items()}
QUICK: Final[dict[str, WorthByPhase]] = {
    game: getattr(module, "QUICK", SOUND[game]) for game, module in _MODULES.items()
}
