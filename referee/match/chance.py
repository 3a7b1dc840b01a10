"""Where the outcomes of chance come from: a committed seed anyone can check, a record, or a written script.

The rules only say what must be drawn; which node of its kind it is (``k``, from 0) the match counts.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from referee.errors import IllegalOutcome
from referee.match.canonical import Json


class Chance(Protocol):
    """A source of outcomes."""

    def outcome(self, asked: Json, k: int) -> Any:
        """What the ``k``-th node of kind ``asked["kind"]`` brings."""
        ...


def commitment(seed: bytes, group_id: str) -> str:
    """The published promise of a deal group: hex SHA-256 over the seed's bytes and the group's id."""
    return hashlib.sha256(seed + group_id.encode()).hexdigest()


def deal_key(seed: bytes, group_id: str, nonces: Sequence[str]) -> bytes:
    """The key of all draws of a group; ``nonces`` stand in entry order, an absent one is empty."""
    text = "referee/v1|" + group_id + "|" + "|".join(nonces)
    return hmac.digest(seed, text.encode(), "sha256")


class CommittedChance:
    """Outcomes that follow from the server's seed and the bots' nonces, so that neither side could choose them.

    Words are 32-bit big-endian, read from HMAC-SHA256(key, kind | k | block); a number below m rejects the
    words past the last whole multiple of m, so every outcome is equally likely.
    """

    def __init__(self, seed: bytes, group_id: str, nonces: Sequence[str]) -> None:
        self._key = deal_key(seed, group_id, nonces)

    def outcome(self, asked: Json, k: int) -> Any:
        below = _ChanceWords(self._key, asked["kind"], k).below
        if asked["kind"] == "deck":
            return shuffle(asked["cards"], below)
        if asked.get("ordered"):
            return shuffle(asked["among"], below)
        return asked["among"][below(len(asked["among"]))]


class RecordedChance:
    """Outcomes as a log has them, handed out once each, in order."""

    def __init__(self, rows: Iterable[Json]) -> None:
        self._rows = iter([row for row in rows if row["type"] == "chance"])

    def outcome(self, asked: Json, k: int) -> Any:
        row = next(self._rows, None)
        if row is None:
            raise IllegalOutcome(f"the record has no outcome for {asked['kind']} {k}")
        return row["outcome"]


class RiggedChance:
    """Outcomes written down beforehand, for tests and for examples; raises ``IllegalOutcome`` past the last."""

    def __init__(self, outcomes: Iterable[Any]) -> None:
        self._outcomes = iter(outcomes)

    def outcome(self, asked: Json, k: int) -> Any:
        try:
            return next(self._outcomes)
        except StopIteration:
            raise IllegalOutcome(f"nothing was rigged for {asked['kind']} {k}") from None


def shuffle(items: Sequence[Any], below: Callable[[int], int]) -> list[Any]:
    """Fisher and Yates, from the last place down: place i changes with place ``below(i + 1)``."""
    order = list(items)
    for i in range(len(order) - 1, 0, -1):
        j = below(i + 1)
        order[i], order[j] = order[j], order[i]
    return order


class _ChanceWords:
    """The stream of random words of one chance node."""

    def __init__(self, key: bytes, kind: str, k: int) -> None:
        self._key = key
        self._label = kind.encode() + b"|" + k.to_bytes(4, "big")
        self._block = 0
        self._words: list[int] = []

    def below(self, m: int) -> int:
        """A whole number from 0 to m − 1, each as likely as the other."""
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
