"""House players that decide in this process: ``random``, ``first``, ``sound``. Serving them over HTTP is not done here.

What ``sound`` knows of a game stands in the file of the game beside this one.

A decision follows from the question and the dice handed in alone; players keep nothing between two questions.
"""

from random import Random
from typing import Any, ClassVar

from referee.house.strategies import pool_nap, prince_albert, prisoners, rummy_royal, saint_poker
from referee.house.strategies.heuristics import WorthByPhase

Json = dict[str, Any]

# One line a game.
KNOWN: dict[str, WorthByPhase] = {
    "pool-nap": pool_nap.WORTH,
    "prince-albert": prince_albert.WORTH,
    "prisoners": prisoners.WORTH,
    "rummy-royal": rummy_royal.WORTH,
    "saint-poker": saint_poker.WORTH,
}


class Player:
    """Answers questions as a bot would; ``question`` holds ``observation``, ``legal`` and ``default``."""

    name: ClassVar[str]

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def decide(self, game: str, question: Json) -> Json:
        """One of the legal actions."""
        raise NotImplementedError


class RandomPlayer(Player):
    """Any legal action, each as likely as the other."""

    name = "random"

    def decide(self, game: str, question: Json) -> Json:
        action: Json = self.rng.choice(question["legal"])
        return action


class FirstPlayer(Player):
    """Always what would be played for an absent seat."""

    name = "first"

    def decide(self, game: str, question: Json) -> Json:
        default: Json = question["default"]
        return default


class SoundPlayer(Player):
    """Plays each game by a few rules of thumb, and at random where it knows none."""

    name = "sound"

    def decide(self, game: str, question: Json) -> Json:
        legal: list[Json] = question["legal"]
        worth = KNOWN.get(game, {}).get(question["observation"]["phase"])
        if worth is None:
            action: Json = self.rng.choice(legal)
            return action
        return max(legal, key=worth(question["observation"]))


def players() -> dict[str, type[Player]]:
    """All house players by name."""
    return {player.name: player for player in (RandomPlayer, FirstPlayer, SoundPlayer)}
