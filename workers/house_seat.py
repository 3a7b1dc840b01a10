"""The dice of house players in matches of the service. Seating them is left to ``referee.house.seat``."""

import hmac
from collections.abc import Callable
from random import Random

from referee.match.match import Request


def dice_of_match(match_id: str, master_key: bytes) -> Callable[[Request], Random]:
    """Return a function that makes the dice for a question of this match.

    They follow from the master key and the question's position, not from the deal: a question that is asked again
    after a restart is answered the same way, and nobody can infer cards from an answer.
    """
    key = hmac.digest(master_key, b"referee/house-dice", "sha256")

    def dice(request: Request) -> Random:
        seed = hmac.digest(key, f"{match_id}|{request.n}|{request.seat}".encode(), "sha256")
        return Random(seed)  # noqa: S311  # a player's dice, not the cards'

    return dice
