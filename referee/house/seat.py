"""Seat a house player at a table of this process. Serving it over HTTP is left to ``referee.house.server``."""

from collections.abc import Callable
from random import Random

from referee.house.strategies import HousePlayer, players
from referee.match.match import Answer, Request


def answer_of(player: HousePlayer, game: str, request: Request) -> Answer:
    """Return the answer of a house player. Its time is not measured, so that the same dice give the same log."""
    return Answer(request.seat, player.decide(game, request.for_player()))


class HouseSeat:
    """Hold a seat for the house player ``name``, with what ``client.BotSeat`` offers a table.

    ``dice`` returns the dice for a question. Deciding takes at most 11 ms, on average less than 1 ms: too short for a
    thread to be worth it.
    """

    last: None = None  # the last call; nothing is ever sent

    def __init__(self, name: str, game: str, dice: Callable[[Request], Random]) -> None:
        self._player = players()[name]
        self._game = game
        self._dice = dice

    async def ask(self, request: Request) -> Answer:
        """Return an action; this never fails and is never charged to the seat's clock."""
        return answer_of(self._player(self._dice(request)), self._game, request)

    def close(self) -> None:
        """Do nothing: no connection is open."""
