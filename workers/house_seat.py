"""Seed the random choices of house players in matches of the service."""

import hmac
from collections.abc import Callable
from random import Random

from referee.match.match import Request


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
