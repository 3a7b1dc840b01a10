"""Make random choices that anyone who knows the draw key can repeat."""

import hmac
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def shuffle(items: Sequence[Item], draw_key: bytes, purpose: str) -> list[Item]:
    """Return the items in a random order determined by ``draw_key`` and ``purpose``; all orders are equally likely.

    This is a Fisher–Yates shuffle: from the last index i down, swap item i with one of 0 … i. Random words come from
    HMAC-SHA256(draw_key, purpose|block); words at or above the largest multiple of i + 1 are rejected.
    """
    words = _RandomWords(draw_key, purpose)
    mixed = list(items)
    for last in range(len(mixed) - 1, 0, -1):
        other = words.draw_below(last + 1)
        mixed[last], mixed[other] = mixed[other], mixed[last]
    return mixed


class _RandomWords:
    """Generate an endless stream of big-endian 32-bit words."""

    def __init__(self, draw_key: bytes, purpose: str) -> None:
        self._draw_key, self._purpose = draw_key, purpose
        self._block = 0
        self._left: list[int] = []

    def draw_below(self, bound: int) -> int:
        limit = 2**32 - 2**32 % bound
        while (word := self._next()) >= limit:
            pass
        return word % bound

    def _next(self) -> int:
        if not self._left:
            block = hmac.digest(self._draw_key, f"{self._purpose}|{self._block}".encode(), "sha256")
            self._block += 1
            self._left = [int.from_bytes(block[at : at + 4]) for at in range(28, -1, -4)]
        return self._left.pop()
