"""House players that decide in this process: ``random``, ``first``, ``sound``. Serving them over HTTP is not done here.

What ``sound`` knows of a game stands in the module of the game beside this one, called like the module of its rules.

A decision follows from the question and the dice handed in alone; players keep nothing between two questions.
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
    """Answers questions as a bot would; ``question`` holds what ``Request.for_player`` returns."""

    name: ClassVar[str]

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def decide(self, game: str, question: Json) -> Json:
        """One of the legal actions."""
        raise NotImplementedError


class RandomPlayer(HousePlayer):
    """Any legal action, each as likely as the other."""

    name = "random"

    def decide(self, game: str, question: Json) -> Json:
        action: Json = self.rng.choice(question["legal_actions"])
        return action


class FirstPlayer(HousePlayer):
    """Always what would be played for an absent seat."""

    name = "first"

    def decide(self, game: str, question: Json) -> Json:
        default: Json = question["default_action"]
        return default


class SoundPlayer(HousePlayer):
    """Plays each game by a few rules of thumb, and at random where it knows none."""

    name = "sound"

    def decide(self, game: str, question: Json) -> Json:
        legal: list[Json] = question["legal_actions"]
        worth = KNOWN.get(game, {}).get(question["observation"]["phase"])
        if worth is None:
            action: Json = self.rng.choice(legal)
            return action
        return max(legal, key=worth(question["observation"]))


def players() -> dict[str, type[HousePlayer]]:
    """All house players by name."""
    return {player.name: player for player in (RandomPlayer, FirstPlayer, SoundPlayer)}
