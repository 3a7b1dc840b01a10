"""Who sits where at a table, so that over an event everybody has every seat about equally often."""

from collections.abc import Sequence
from itertools import permutations
from typing import Final

EXACT_SEATS: Final = 4  # up to here every order is looked at; above, pairs swap until no swap helps
_ORDERS: Final = {seats: tuple(permutations(range(seats))) for seats in range(2, EXACT_SEATS + 1)}


def assign_seats(costs: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """For each seat the index of who takes it; ``costs[who][seat]`` is what it costs to put somebody there.

    The cheapest order, the first among equals, for up to four seats; above, one that no swap of two makes cheaper.
    """
    if len(costs) > EXACT_SEATS:
        return _improve_by_swaps(costs)
    places: tuple[int, ...]
    if len(costs) == EXACT_SEATS:
        one, two, three, four = costs  # spelled out: large events ask this of thousands of tables
        _, places = min((one[a] + two[b] + three[c] + four[d], (a, b, c, d)) for a, b, c, d in _ORDERS[EXACT_SEATS])
    else:
        places = min(
            _ORDERS[len(costs)], key=lambda places: sum(row[at] for row, at in zip(costs, places, strict=True))
        )
    return tuple(sorted(range(len(costs)), key=places.__getitem__))


def _improve_by_swaps(costs: Sequence[Sequence[int]]) -> tuple[int, ...]:
    order = list(range(len(costs)))
    better = True
    while better:
        better = False
        for seat in range(1, len(order)):
            for other in range(seat):
                one, two = order[seat], order[other]
                if costs[one][seat] + costs[two][other] > costs[one][other] + costs[two][seat]:
                    order[seat], order[other] = two, one
                    better = True
    return tuple(order)


def seat_cost(taken: int) -> int:
    """What it costs to sit once more where one sat so often already: steep, so that nobody is left behind."""
    return 1 << 2 * min(taken, 1_000)
