"""Balance the seats of a fixed schedule: every entrant gets each seat equally often, or once more."""

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations
from typing import TypeVar

Entrant = TypeVar("Entrant", bound=Hashable)


def balance_seats(rounds: Sequence[Sequence[tuple[Entrant, ...]]]) -> list[list[tuple[Entrant, ...]]]:
    """Return the same tables with seats exchanged so that every entrant's seats are balanced.

    All tables must have the same number of seats. In the result, the numbers of times that an entrant has each seat
    differ by at most 1, and not at all if its number of tables is a multiple of the number of seats.

    This is always possible. Consider two seats as a graph: each table is an arc from the entrant in one seat to the
    entrant in the other. Exchanging the two turns the arc around. While an entrant has the first seat at least twice
    more often than the second, the entrants who can be reached from there include one who has the second seat more
    often, because every arc that begins in this set ends in it. Turning around the arcs of a path between these two
    changes nothing for the others and reduces the sum of the squares of all counts, so the repetition ends. This proves
    the theorem of D. de Werra on equitable edge colourings of bipartite graphs (1971) for schedules.
    """
    tables = [[*table] for tables in rounds for table in tables]
    if tables:
        unbalanced = True
        while unbalanced:
            pairs = combinations(range(len(tables[0])), 2)
            exchanged = [
                _SeatPair(tables, first, second).balance() for first, second in pairs
            ]  # all, not only the first
            unbalanced = any(exchanged)
    balanced = iter(tables)
    return [[tuple(next(balanced)) for _ in tables] for tables in rounds]


class _SeatPair:
    """Balance two seats of all tables against each other."""

    def __init__(self, tables: list[list[Entrant]], one: int, two: int) -> None:
        self.tables, self.one, self.two = tables, one, two
        self.surplus: Counter[Hashable] = Counter()  # by entrant, how much more often it has the first seat
        for table in tables:
            self.surplus[table[one]] += 1
            self.surplus[table[two]] -= 1

    def balance(self) -> bool:
        """Exchange seats until no entrant has one of the two at least twice more often. Return whether any did."""
        if all(abs(surplus) < 2 for surplus in self.surplus.values()):
            return False
        leaving: defaultdict[Hashable, dict[int, None]] = defaultdict(dict)  # by entrant in the first seat
        arriving: defaultdict[Hashable, dict[int, None]] = defaultdict(dict)  # by entrant in the second seat
        for index, table in enumerate(self.tables):
            leaving[table[self.one]][index] = None
            arriving[table[self.two]][index] = None
        for entrant in self.surplus:
            while abs(self.surplus[entrant]) >= 2:
                forward = self.surplus[entrant] > 0
                path = self._find_path(entrant, leaving if forward else arriving, forward=forward)
                for index in path:
                    self._exchange(index, leaving, arriving)
        return True

    def _find_path(self, start: Hashable, arcs: defaultdict[Hashable, dict[int, None]], *, forward: bool) -> list[int]:
        """Return the tables of a shortest path to an entrant who has the other seat more often."""
        other_seat = self.two if forward else self.one
        sign = 1 if forward else -1
        came_by: dict[Hashable, tuple[Hashable, int] | None] = {start: None}
        queue = deque([start])
        while queue:
            entrant = queue.popleft()
            if sign * self.surplus[entrant] < 0:
                return [*_walk_back(came_by, entrant)]
            for index in arcs[entrant]:
                other = self.tables[index][other_seat]
                if other not in came_by:
                    came_by[other] = (entrant, index)
                    queue.append(other)
        raise AssertionError("a surplus without a deficit that can be reached")

    def _exchange(
        self,
        index: int,
        leaving: defaultdict[Hashable, dict[int, None]],
        arriving: defaultdict[Hashable, dict[int, None]],
    ) -> None:
        table = self.tables[index]
        first, second = table[self.one], table[self.two]
        table[self.one], table[self.two] = second, first
        self.surplus[first] -= 2
        self.surplus[second] += 2
        del leaving[first][index], arriving[second][index]
        leaving[second][index] = arriving[first][index] = None


def _walk_back(came_by: dict[Hashable, tuple[Hashable, int] | None], end: Hashable) -> Iterator[int]:
    step = came_by[end]
    while step is not None:
        entrant, index = step
        yield index
        step = came_by[entrant]
