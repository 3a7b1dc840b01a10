"""Drawing lots so that anybody who knows the draw can draw them again."""

import hmac
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def shuffle(items: Sequence[Item], draw: bytes, purpose: str) -> list[Item]:
    """The items in an order drawn for this purpose, every order as likely as any other.

    Swaps place i with one of 0 … i from the last place down; words from HMAC-SHA256(draw, purpose|block),
    those at or above the largest multiple of i + 1 are passed over.
    """
    words = _Words(draw, purpose)
    mixed = list(items)
    for place in range(len(mixed) - 1, 0, -1):
        other = words.draw_below(place + 1)
        mixed[place], mixed[other] = mixed[other], mixed[place]
    return mixed


class _Words:
    """Big-endian 32-bit words, as many as are asked for."""

    def __init__(self, draw: bytes, purpose: str) -> None:
        self._draw, self._purpose = draw, purpose
        self._block = 0
        self._left: list[int] = []

    def draw_below(self, bound: int) -> int:
        limit = 2**32 - 2**32 % bound
        while (word := self._next()) >= limit:
            pass
        return word % bound

    def _next(self) -> int:
        if not self._left:
            block = hmac.digest(self._draw, f"{self._purpose}|{self._block}".encode(), "sha256")
            self._block += 1
            self._left = [int.from_bytes(block[at : at + 4]) for at in range(28, -1, -4)]
        return self._left.pop()
