"""A house player in its seat: asked in this process, never over HTTP."""

import asyncio
import hmac
from random import Random

from referee.botclient.client import Reply
from referee.house.strategies import players
from referee.match.match import Answer, Request


class HouseSeat:
    """A seat that a house player holds, with what ``client.BotSeat`` offers a table.

    Its dice are new for each question and follow from the master key and the question's place, not from the deal:
    a question that is asked again after a stop is answered alike, and nobody can read cards from an answer. Its time
    is not measured (the longest decision seen is 11 ms, the mean below 1 ms: too short to be worth a thread).
    """

    last: tuple[bytes, Reply] | None = None  # nothing was sent

    def __init__(self, name: str, game: str, match_id: str, master_key: bytes) -> None:
        self._player = players()[name]
        self._game = game
        self._match_id = match_id
        self._key = hmac.digest(master_key, b"referee/house-dice", "sha256")

    async def ask(self, request: Request) -> Answer:
        """Always an action, at no charge."""
        await asyncio.sleep(0)  # a table of house players alone must let others have their turn
        return Answer(request.seat, self._player(self._dice(request)).decide(self._game, request.for_player()))

    def close(self) -> None:
        """Nothing is open."""

    def _dice(self, request: Request) -> Random:
        place = f"{self._match_id}|{request.n}|{request.seat}".encode()
        seed = hmac.digest(self._key, place, "sha256")
        return Random(seed)  # noqa: S311  # a player's dice, not the cards'
