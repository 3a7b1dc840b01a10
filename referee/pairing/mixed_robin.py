"""Schedule round robins in which everyone plays in every round, at tables of one or two sizes.

Number the places of a circle, one for each entrant, and divide them among tables. In the next round everyone moves one
place further, and so on until everyone has sat in every seat of every table: this is a cycle, with as many rounds as
entrants. So after each cycle all entrants have had the same seats and the same sizes of tables. How often two of them
met depends only on their distance on the circle: a search divides the places so that all distances occur about equally
often.
"""

from collections.abc import Hashable, Sequence
from itertools import combinations, islice
from typing import Final, TypeVar

from referee.pairing.seat_balance import balance_seats
from referee.pairing.seeded_random import shuffle
from referee.pairing.table_sizes import split_tables

Entrant = TypeVar("Entrant", bound=Hashable)
STEPS: Final = 200_000  # places looked at by the search


def mixed_round_robin(
    entrants: Sequence[Entrant], seats: int, min_seats: int, cycles: int
) -> list[list[tuple[Entrant, ...]]]:
    """Return rounds of tables at which any two entrants meet about equally often. Nobody is left out of a round.

    The sizes of tables must add up to the number of entrants.
    """
    count = len(entrants)
    sizes = split_tables(count, seats, min_seats)
    meetings = [0] * (count // 2)
    rounds: list[list[list[int]]] = []
    for number in range(cycles):
        search = _PlaceSearch(sizes, meetings, number, STEPS // cycles)
        search.run()
        meetings = search.best_meetings
        rounds += [[[(place + by) % count for place in table] for table in search.best_tables] for by in range(count)]
    balanced = _balance_seats_by_size(rounds)
    return [[tuple(entrants[place] for place in table) for table in tables] for tables in balanced]


def _balance_seats_by_size(rounds: Sequence[Sequence[list[int]]]) -> list[list[tuple[int, ...]]]:
    """Return the same tables with the seats of equally large ones balanced among themselves."""
    sizes = {len(table) for table in rounds[0]}
    balanced = {
        size: iter(balance_seats([[tuple(table) for table in tables if len(table) == size] for tables in rounds]))
        for size in sorted(sizes, reverse=True)
    }
    return [[table for tables_of_size in balanced.values() for table in next(tables_of_size)] for _ in rounds]


class _PlaceSearch:
    """Divide the places of the circle among tables so that entrants at all distances meet about equally often.

    ``meetings`` has, for the distances 1, 2 … half of the circle, how often two entrants met after this pass.
    """

    def __init__(self, sizes: Sequence[int], before: Sequence[int], number: int, steps: int) -> None:
        self.sizes, self.before, self.number = sizes, before, number
        self.count = sum(sizes)
        # Half of a circle with an even number of places joins only half as many pairs as other distances, each twice.
        self.weights = [1 if 2 * distance == self.count else 2 for distance in range(1, self.count // 2 + 1)]
        self.left = steps  # places that may still be looked at
        self.best_tables: list[tuple[int, ...]] = []
        self.best_meetings: list[int] = []

    def run(self) -> None:
        """Improve divisions by swaps of two places until all pairs meet equally often, or as many steps are made."""
        attempt = 0
        while not attempt or (self.left > 0 and max(self.best_meetings) - min(self.best_meetings) > 1):
            self._begin(attempt)
            while self.left > 0 and self._improve():
                pass
            if not attempt or self._cost(self.meetings) < self._cost(self.best_meetings):
                self.best_tables, self.best_meetings = [tuple(table) for table in self.tables], [*self.meetings]
            attempt += 1

    def _begin(self, attempt: int) -> None:
        places = iter(shuffle(range(self.count), b"places at mixed tables", f"{self.number}|{attempt}"))
        self.tables = [[*islice(places, size)] for size in self.sizes]
        self.meetings = [*self.before]
        for first, other in (pair for table in self.tables for pair in combinations(table, 2)):
            self._count(self.meetings, first, other, 1)

    def _improve(self) -> bool:
        """Make the first swap that evens out the meetings. Return whether there is one."""
        for here, there in combinations(self.tables, 2):
            for index in range(len(here)):
                for other_index in range(len(there)):
                    swapped = self._meetings_after(here, index, there, other_index)
                    self.left -= len(here) + len(there)
                    if self._cost(swapped) < self._cost(self.meetings):
                        here[index], there[other_index] = there[other_index], here[index]
                        self.meetings = swapped
                        return True
                    if self.left <= 0:
                        return False
        return False

    def _meetings_after(self, here: Sequence[int], index: int, there: Sequence[int], other_index: int) -> list[int]:
        meetings = [*self.meetings]
        for table, at, entering in ((here, index, there[other_index]), (there, other_index, here[index])):
            leaving = table[at]
            for place in table:
                if place != leaving:
                    self._count(meetings, place, leaving, -1)
                    self._count(meetings, place, entering, 1)
        return meetings

    def _count(self, meetings: list[int], first: int, other: int, times: int) -> None:
        around = abs(first - other)
        distance = min(around, self.count - around)
        meetings[distance - 1] += times * (3 - self.weights[distance - 1])

    def _cost(self, meetings: Sequence[int]) -> int:
        return sum(weight * times * times for weight, times in zip(self.weights, meetings, strict=True))
