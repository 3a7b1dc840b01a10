"""Let a house player play a match in this process. ``referee.house.server`` serves house players over HTTP."""

import hmac
from collections.abc import Callable
from random import Random

from referee.house.players import HousePlayer, find_player
from referee.match.match import Answer, Request


def answer_of(player: HousePlayer, game: str, request: Request) -> Answer:
    """Return the answer of a house player. Do not measure its time, so that equal dice give equal logs."""
    return Answer(request.seat, player.decide(game, request.for_player()))


class HouseSeat:
    """Represent a seat of the house player at ``address``, with the interface of ``client.BotSeat``.

    ``dice`` returns the random generator for a question. Players that search do so in other processes. A decision of
    any other takes at most 11 ms, and on average less than 1 ms, so it does not need a thread.
    """

    last: None = None  # the last call; always None, because there are no calls
    error: str = ""  # that a bot would report; house players report none

    def __init__(self, address: str, game: str, dice: Callable[[Request], Random]) -> None:
        self._player = find_player(address)
        self._game = game
        self._dice = dice

    async def ask(self, request: Request) -> Answer:
        """Return the answer to a question. This does not use any of the seat's time."""
        player = self._player(self._dice(request))
        return Answer(request.seat, await player.answer(self._game, request.for_player()))

    def close(self) -> None:
        """Do nothing, because there are no connections."""


def match_random(match_id: str, master_key: bytes) -> Callable[[Request], Random]:
    """Return a function that creates the random generator for a question in this match.

    The seed depends on the master key, the match and the position of the question, not on the deal: a question asked
    again after a restart gets the same answer, and answers reveal nothing about the cards.
    """
    key = hmac.digest(master_key, b"referee/house-dice", "sha256")

    def dice(request: Request) -> Random:
        seed = hmac.digest(key, f"{match_id}|{request.n}|{request.seat}".encode(), "sha256")
        return Random(seed)  # noqa: S311  # for choices of a player, not for cards

    return dice
