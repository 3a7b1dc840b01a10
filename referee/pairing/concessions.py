"""Find the fewest concessions with which a small field can be paired, by trying all pairings.

``dutch`` says what a concession is and costs.
"""

from collections.abc import Callable
from functools import cache
from typing import Final

SMALL_FIELD: Final = 14  # players, and the bye if there is one; with this number, at most 2 ** 13 sets are compared
IMPOSSIBLE: Final = 1 << 100  # more than the cost of any pairing

PairCost = Callable[[int, int], int]
SetCost = Callable[[frozenset[int]], int]


def fewest_concessions(cost: PairCost) -> SetCost:
    """Return a function for the lowest total ``cost`` of pairing all of a set of players. It is ``IMPOSSIBLE``
    or more if there is no such pairing."""

    @cache
    def fewest(people: frozenset[int]) -> int:
        if not people:
            return 0
        first = min(people)
        rest = people - {first}
        return min((cost(first, other) + fewest(rest - {other}) for other in rest), default=IMPOSSIBLE)

    return fewest
