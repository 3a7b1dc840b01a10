"""Define the house players ``random``, ``first`` and ``sound``.

The heuristics of ``sound`` for a game are in the module of this package with the same name as the module of its rules.

A decision depends only on the question and the given dice. Players keep no state between questions.
"""

from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any, ClassVar, Final

from referee.games import catalogue
from referee.house.strategies.heuristics import WorthByPhase

Json = dict[str, Any]

_MODULES: Final = {game: f"{__name__}.{game.replace('-', '_')}" for game in catalogue()}
KNOWN: Final[dict[str, WorthByPhase]] = {
    game: import_module(module).WORTH for game, module in _MODULES.items() if find_spec(module)
}


class HousePlayer:
    """Answer questions as a bot would. ``question`` is the result of ``Request.for_player``."""

    name: ClassVar[str]

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def decide(self, game: str, question: Json) -> Json:
        """Return one of the legal actions."""
        raise NotImplementedError


class RandomPlayer(HousePlayer):
    """Choose uniformly among the legal actions."""

    name = "random"

    def decide(self, game: str, question: Json) -> Json:
        action: Json = self.rng.choice(question["legal_actions"])
        return action


class FirstPlayer(HousePlayer):
    """Always play the default action."""

    name = "first"

    def decide(self, game: str, question: Json) -> Json:
        default: Json = question["default_action"]
        return default


class SoundPlayer(HousePlayer):
    """Play by a few heuristics, and at random in phases without heuristics."""

    name = "sound"

    def decide(self, game: str, question: Json) -> Json:
        legal: list[Json] = question["legal_actions"]
        worth = KNOWN.get(game, {}).get(question["observation"]["phase"])
        if worth is None:
            action: Json = self.rng.choice(legal)
            return action
        return max(legal, key=worth(question["observation"]))


def players() -> dict[str, type[HousePlayer]]:
    """Return all house players, keyed by name."""
    return {player.name: player for player in (RandomPlayer, FirstPlayer, SoundPlayer)}
