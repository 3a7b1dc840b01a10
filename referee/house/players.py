"""Define the house players: four levels, each stronger than the one below, and ``first`` for tests of other programs.

A decision depends only on the question and the given dice. Players keep no state between questions.
"""

from random import Random
from typing import ClassVar, Final

from referee.errors import RefereeError
from referee.games.state import Json
from referee.house.pool import shared_pool
from referee.house.search import SEED_BITS, search_action
from referee.house.strategies import NOVICE, SOUND
from referee.house.strategies.heuristics import WorthByPhase

SCHEME: Final = "house:"


class HousePlayer:
    """Answer questions as a bot would. ``question`` is the result of ``Request.for_player``."""

    key: ClassVar[str]  # what follows ``house:`` in its address; the number of a level
    title: ClassVar[str]

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    @classmethod
    def address(cls) -> str:
        return SCHEME + cls.key

    @classmethod
    def full_name(cls) -> str:
        """Return the name of its bots: ``House 3 Sound``."""
        return f"House {cls.key} {cls.title}" if cls.key.isdigit() else f"House {cls.title}"

    def decide(self, game: str, question: Json) -> Json:
        """Return one of the legal actions."""
        raise NotImplementedError

    async def answer(self, game: str, question: Json) -> Json:
        """Return the same action as ``decide``, without blocking the event loop for more than some milliseconds."""
        return self.decide(game, question)


class RandomPlayer(HousePlayer):
    """Choose uniformly among the legal actions."""

    key, title = "1", "Random"

    def decide(self, game: str, question: Json) -> Json:
        action: Json = self.rng.choice(question["legal_actions"])
        return action


class NovicePlayer(HousePlayer):
    """Play by rules of thumb of a beginner, which overlook much, and at random in phases without any."""

    key, title = "2", "Novice"
    heuristics: ClassVar[dict[str, WorthByPhase]] = NOVICE

    def decide(self, game: str, question: Json) -> Json:
        legal: list[Json] = question["legal_actions"]
        rate = self.heuristics.get(game, {}).get(question["observation"]["phase"])
        if rate is None:
            action: Json = self.rng.choice(legal)
            return action
        return max(legal, key=rate(question["observation"]))


class SoundPlayer(NovicePlayer):
    """Play by a few good heuristics, and at random in phases without any."""

    key, title = "3", "Sound"
    heuristics = SOUND


class SearchPlayer(SoundPlayer):
    """Try actions in positions that agree with the observation. Play like ``sound`` in games without ``resample``."""

    key, title = "4", "Search"

    def decide(self, game: str, question: Json) -> Json:
        return search_action(game, question, self._draw_seed())

    async def answer(self, game: str, question: Json) -> Json:
        """Return the same action as ``decide``, found in another process."""
        return await shared_pool().search(game, question, self._draw_seed())

    def _draw_seed(self) -> int:
        return self.rng.getrandbits(SEED_BITS)


class FirstPlayer(HousePlayer):
    """Always play the default action. This is no level: it serves to test matches and other bots."""

    key, title = "first", "First"

    def decide(self, game: str, question: Json) -> Json:
        default: Json = question["default_action"]
        return default


LEVELS: Final = (RandomPlayer, NovicePlayer, SoundPlayer, SearchPlayer)  # weakest first
PLAYERS: Final = (*LEVELS, FirstPlayer)
LEVEL_ADDRESSES: Final = tuple(player.address() for player in LEVELS)


def is_house(address: str) -> bool:
    """Return whether this is the address of a house player, such as ``house:3``."""
    return address.startswith(SCHEME)


def find_player(address: str) -> type[HousePlayer]:
    """Return the house player at an address: ``house:3``, or by its title ``house:sound``. The scheme may be omitted.

    Raise ``NoSuchHousePlayer`` if there is none.
    """
    wanted = address.removeprefix(SCHEME)
    for player in PLAYERS:
        if wanted in (player.key, player.title.lower()):
            return player
    raise NoSuchHousePlayer(f"Unknown house player {address!r}; available: {', '.join(LEVEL_ADDRESSES)}.")


class NoSuchHousePlayer(RefereeError):
    """Signal that there is no house player at an address."""
