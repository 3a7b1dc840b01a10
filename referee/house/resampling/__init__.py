"""Draw positions that agree with everything a seat knows, for players that search.

``resample(observation, chance)`` returns a full position in which the seat that is asked sees exactly this observation.
Hidden cards are drawn at random among all that are possible; what the free choices of other seats suggest is ignored.
It needs no events: an observation contains every fact that events have told and that still matters.

The function of a game is in the module of this package with the same name as the module of its rules, or in the module
``resampling`` of the game's package.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Final

from referee.games import catalogue, module_beside
from referee.games.state import Json, State

Resample = Callable[[Json, Random], State]

_MODULES: Final = {game: module_beside(game, __name__, "resampling") for game in catalogue()}
RESAMPLE: Final[dict[str, Resample]] = {
    game: import_module(module).resample for game, module in _MODULES.items() if find_spec(module)
}
