"""Seat a house player at a table of this process. Serving it over HTTP is left to ``referee.house.server``."""

from collections.abc import Callable
from random import Random

from referee.house.strategies import HousePlayer, players
from referee.match.match import Answer, Request


def answer_of(player: HousePlayer, game: str, request: Request) -> Answer:
    """Return the answer of a house player. Its time is not measured, so that equal dice give equal logs."""
    return Answer(request.seat, player.decide(game, request.for_player()))


class HouseSeat:
    """A seat of the house player ``name``, with the interface of ``client.BotSeat``.

    ``dice`` returns the dice for a question. A decision takes at most 11 ms and on average less than 1 ms, too short
    to be worth a thread.
    """

    last: None = None  # the last call: there is never one

    def __init__(self, name: str, game: str, dice: Callable[[Request], Random]) -> None:
        self._player = players()[name]
        self._game = game
        self._dice = dice

    async def ask(self, request: Request) -> Answer:
        """Return an action; this never fails and is never charged to the seat's clock."""
        return answer_of(self._player(self._dice(request)), self._game, request)

    def close(self) -> None:
        """Do nothing: no connection is open."""
