"""Assign seats so that every entrant gets each seat about equally often over a tournament."""

from collections.abc import Sequence
from itertools import permutations
from typing import Final

EXACT_SEATS: Final = 4  # up to this number, all orders are compared; above, entrants swap until no swap helps
_ORDERS: Final = {seats: tuple(permutations(range(seats))) for seats in range(2, EXACT_SEATS + 1)}


def assign_seats(costs: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return, for each seat, the index of its entrant.

    ``costs[index][seat]`` is the cost of seating the entrant with this index in this seat. For up to four seats, return
    the cheapest order or, if several are equally cheap, the first of them. For more, return an order that no swap of
    two improves.
    """
    if len(costs) > EXACT_SEATS:
        return _improve_by_swaps(costs)
    orders = _ORDERS[len(costs)]
    places = min(orders, key=lambda places: sum(row[seat] for row, seat in zip(costs, places, strict=True)))
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
    """Return the cost of a seat that an entrant has had ``taken`` times. Each time multiplies the cost by four."""
    return 1 << 2 * min(taken, 1_000)
