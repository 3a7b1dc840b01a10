"""Search for tables of three or more with the fewest repeat meetings, then the fewest siblings at a table.

The search is deterministic and its work is bounded by steps, so the same history always gives the same tables.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from referee.pairing.history import PairingHistory

MOVES: Final = 40_000  # swaps compared by the search
POLISH: Final = 40_000  # swaps compared to reduce differences in score
NEAR: Final = 100  # positions on either side, by score, that are searched for a swap
_REMATCH: Final = 1 << 24  # more than all pairs of siblings of a round can cost
_TENURE: Final = 6  # moves for which an entrant stays where it was put, and up to as many more

Cost = tuple[int, int]  # repeat meetings and siblings; differences in score


def reduce_meetings(history: PairingHistory, tables: list[list[int]]) -> None:
    """Change ``tables`` in place to those with the fewest repeat meetings that the search finds.

    Among these it prefers few pairs of siblings, then small differences in score; the result is in no case worse in
    this order. Two entrants change between tables of different sizes only if they sat at smaller tables equally often.
    If no table has either, return immediately.
    """
    if not any(sum_costs(history, tables)[:2]):
        return
    least = _least_cost(history, tables)
    search = _TableSearch(history, tables)
    if search.cost <= least:
        return
    search.run(least)
    search.restart(search.best_tables)
    search.polish()
    tables[:] = search.best_tables


def sum_costs(history: PairingHistory, tables: Sequence[Sequence[int]]) -> tuple[int, int, int]:
    """Return the numbers of repeat meetings and of pairs of siblings, and the sum of the differences in score."""
    met = siblings = apart = 0
    for player, other in (pair for table in tables for pair in combinations(table, 2)):
        met += history.met[player].get(other, 0)
        siblings += history.are_siblings(player, other)
        apart += abs(history.score[player] - history.score[other])
    return met, siblings, apart


def _least_cost(history: PairingHistory, tables: Sequence[Sequence[int]]) -> int:
    """Return a lower bound of the cost: what each entrant and each family must have, whatever the others do."""
    people = {player for table in tables for player in table}
    seats = min(map(len, tables))
    met = 0
    for player in people:
        before = sorted(times for other, times in history.met[player].items() if other in people)
        met += sum(before[: max(0, seats - len(people) + len(before))])  # at a table with as many new ones as there are
    siblings = 0
    families = Counter(history.family[player] for player in people if history.family[player])
    for size in families.values():
        each, more = divmod(size, len(tables))
        siblings += len(tables) * each * (each - 1) // 2 + more * each
    return _REMATCH * -(-met // 2) + siblings


class _TableSearch:
    """Swap entrants of different tables, knowing what each entrant costs at each table."""

    def __init__(self, history: PairingHistory, tables: Sequence[Sequence[int]]) -> None:
        self.score, self.met, self.small, self.family = history.score, history.met, history.small, history.family
        people = [player for table in tables for player in table]
        self.people = sorted(people, key=lambda player: (-self.score[player], player))
        self.rank = {player: index for index, player in enumerate(self.people)}
        self.noise = 1
        self.restart(tables)
        self.best = (self.cost, self.apart)
        self.best_tables = [[*table] for table in tables]

    def restart(self, tables: Sequence[Sequence[int]]) -> None:
        """Continue from other tables of the same entrants. Keep the best tables found so far."""
        self.tables = [[*table] for table in tables]
        self.table_of = {player: index for index, table in enumerate(tables) for player in table}
        self.meetings: dict[int, Counter[int]] = {}  # by player, the earlier meetings with the members of each table
        for player in self.people:
            self.meetings[player] = Counter[int]()
            for other, times in self.met[player].items():
                if other in self.table_of:
                    self.meetings[player][self.table_of[other]] += times
        self.relatives = Counter((self.family[player], self.table_of[player]) for player in self.people)
        self.cost = sum(self._cost_at(player, self.table_of[player]) for player in self.people) // 2
        self.apart = sum(
            abs(self.score[player] - self.score[other]) for table in tables for player, other in combinations(table, 2)
        )

    def run(self, least: int) -> None:
        """Make the best swap of a costly entrant again and again, even if it costs more (tabu search, F. Glover, 1989).

        An entrant that was moved stays for some moves, unless its return gives the best tables so far.
        """
        self._keep_if_best()
        compared = turn = 0
        held_until: dict[int, int] = {}
        while compared < MOVES and self.best[0] > least:
            costly = [player for player in self.people if self._cost_at(player, self.table_of[player])]
            if not costly:
                return
            player = costly[self._draw_below(len(costly))]
            best: tuple[int, int, int] | None = None
            for other in self._list_near(player):
                if self.table_of[other] == self.table_of[player] or not self._may_swap(player, other):
                    continue
                compared += 1
                change = self._cost_change(player, other)
                held = max(held_until.get(player, 0), held_until.get(other, 0)) > turn
                if (held and self.cost + change >= self.best[0]) or (best is not None and change > best[0]):
                    continue
                move = (change, self._apart_change(player, other), other)
                best = move if best is None else min(best, move)
            turn += 1
            compared += 1  # also if every entrant nearby is held, so that the search ends
            if best is not None:
                self._swap(player, best[2])
                for moved in (player, best[2]):
                    held_until[moved] = turn + _TENURE + self._draw_below(_TENURE)
                self._keep_if_best()

    def polish(self) -> None:
        """Reduce differences in score by swaps that do not raise the cost, until none is left or the steps are."""
        compared, improved = 0, True
        while improved:
            improved = False
            for player in self.people:
                for other in self._list_near(player):
                    if self.score[other] == self.score[player] or self.table_of[other] == self.table_of[player]:
                        continue
                    if not self._may_swap(player, other):
                        continue
                    compared += 1
                    if compared > POLISH:
                        return
                    change = (self._cost_change(player, other), self._apart_change(player, other))
                    if change < (0, 0):
                        self._swap(player, other)
                        self._keep_if_best()
                        improved = True

    def _may_swap(self, player: int, other: int) -> bool:
        tables, here, there = self.tables, self.table_of[player], self.table_of[other]
        return self.small[player] == self.small[other] or len(tables[here]) == len(tables[there])

    def _list_near(self, player: int) -> Sequence[int]:
        rank = self.rank[player]
        return self.people[max(0, rank - NEAR) : rank + NEAR + 1]

    def _cost_at(self, player: int, table: int) -> int:
        """Return the cost of the player's meetings at a table with the members that it now has."""
        cost = _REMATCH * self.meetings[player][table]
        if family := self.family[player]:
            cost += self.relatives[family, table] - (self.table_of[player] == table)
        return cost

    def _cost_change(self, player: int, other: int) -> int:
        """Return by how much the cost rises if the two entrants exchange their tables."""
        here, there = self.table_of[player], self.table_of[other]
        between = _REMATCH * self.met[player].get(other, 0)
        between += self.family[player] == self.family[other] != ""
        gained = self._cost_at(player, there) + self._cost_at(other, here) - 2 * between
        return gained - self._cost_at(player, here) - self._cost_at(other, there)

    def _apart_change(self, player: int, other: int) -> int:
        score, own, others = self.score, self.score[player], self.score[other]
        change = 0
        for member in self.tables[self.table_of[player]]:
            if member != player:
                change += abs(others - score[member]) - abs(own - score[member])
        for member in self.tables[self.table_of[other]]:
            if member != other:
                change += abs(own - score[member]) - abs(others - score[member])
        return change

    def _swap(self, player: int, other: int) -> None:
        self.cost += self._cost_change(player, other)
        self.apart += self._apart_change(player, other)
        here, there = self.table_of[player], self.table_of[other]
        for moved, left, entered in ((player, here, there), (other, there, here)):
            self.tables[left].remove(moved)
            self.tables[entered].append(moved)
            self.table_of[moved] = entered
            self.relatives[self.family[moved], left] -= 1
            self.relatives[self.family[moved], entered] += 1
            for other_met, times in self.met[moved].items():
                if other_met in self.meetings:
                    self.meetings[other_met][left] -= times
                    self.meetings[other_met][entered] += times

    def _keep_if_best(self) -> None:
        if (self.cost, self.apart) < self.best:
            self.best = (self.cost, self.apart)
            self.best_tables = [[*table] for table in self.tables]

    def _draw_below(self, bound: int) -> int:
        """Return the next number of a fixed sequence: D. Knuth's linear congruential generator (MMIX)."""
        self.noise = (self.noise * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.noise >> 33) % bound
