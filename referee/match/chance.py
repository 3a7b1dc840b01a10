"""Draw chance outcomes from a committed seed that anyone can check, or from a recorded log.

The rules define what must be drawn. The match counts the draws of each kind (``k``, from 0).
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, Protocol

from referee.errors import IllegalOutcome
from referee.match.canonical import Json


class Chance(Protocol):
    """Provide the outcomes of chance in a match."""

    def outcome(self, request: Json, k: int) -> Any:
        """Return the outcome of draw number ``k``, from 0, of the kind ``request["kind"]``."""
        ...


def commitment(seed: bytes, group_id: str) -> str:
    """Return the commitment published for a deal group: hex SHA-256 over the seed and the group's id."""
    return hashlib.sha256(seed + group_id.encode()).hexdigest()


def deal_key(seed: bytes, group_id: str, nonces: Sequence[str]) -> bytes:
    """Return the 32-byte key of all draws of a group. ``nonces`` are in entry order; a missing nonce is ""."""
    text = "referee/v1|" + group_id + "|" + "|".join(nonces)
    return hmac.digest(seed, text.encode(), "sha256")


class CommittedChance:
    """Derive outcomes from the server's seed and the bots' nonces, so that neither side can choose them.

    Random words are 32-bit big-endian numbers from HMAC-SHA256(key, kind | k | block). To draw a number below m, words
    at or above the largest multiple of m are rejected, so that all outcomes are equally likely.
    """

    def __init__(self, seed: bytes, group_id: str, nonces: Sequence[str]) -> None:
        self._key = deal_key(seed, group_id, nonces)

    def outcome(self, asked: Json, k: int) -> Any:
        draw_below = _ChanceWords(self._key, asked["kind"], k).draw_below
        if asked["kind"] == "deck":
            return shuffle(asked["cards"], draw_below)
        if asked.get("ordered"):
            return shuffle(asked["among"], draw_below)
        return asked["among"][draw_below(len(asked["among"]))]


class RecordedChance:
    """Repeat the outcomes of a recorded log in order. Raise ``IllegalOutcome`` after the last one."""

    def __init__(self, rows: Iterable[Json]) -> None:
        self._rows = iter([row for row in rows if row["type"] == "chance"])

    def outcome(self, asked: Json, k: int) -> Any:
        row = next(self._rows, None)
        if row is None:
            raise IllegalOutcome(f"the log has no outcome for {asked['kind']} {k}")
        return row["outcome"]


def random_outcome(asked: Json, dice: Random) -> Any:
    """Return a fair outcome of a chance request, for play that nobody has to verify."""
    if asked["kind"] == "deck":
        return dice.sample(asked["cards"], len(asked["cards"]))
    if asked.get("ordered"):
        return dice.sample(asked["among"], len(asked["among"]))
    return dice.choice(asked["among"])


def shuffle(items: Sequence[Any], draw_below: Callable[[int], int]) -> list[Any]:
    """Return the items shuffled by Fisher–Yates: from the last index i down, swap item i with ``draw_below(i + 1)``."""
    order = list(items)
    for i in range(len(order) - 1, 0, -1):
        j = draw_below(i + 1)
        order[i], order[j] = order[j], order[i]
    return order


class _ChanceWords:
    """Generate the random words of one draw."""

    def __init__(self, key: bytes, kind: str, k: int) -> None:
        self._key = key
        self._label = kind.encode() + b"|" + k.to_bytes(4, "big")
        self._block = 0
        self._words: list[int] = []

    def draw_below(self, m: int) -> int:
        """Return a random whole number from 0 to m − 1, each with the same probability."""
        limit = 2**32 - 2**32 % m
        while True:
            if not self._words:
                self._refill()
            word = self._words.pop()
            if word < limit:
                return word % m

    def _refill(self) -> None:
        block = hmac.digest(self._key, self._label + self._block.to_bytes(4, "big"), "sha256")
        self._block += 1
        self._words = [int.from_bytes(block[i : i + 4], "big") for i in range(28, -1, -4)]
