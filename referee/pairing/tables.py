"""Pair a Swiss round at tables of three or more: form tables by score, then swap entrants to reduce repeat meetings."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from typing import Final

from referee.pairing.history import PairingHistory
from referee.pairing.seating import assign_seats, seat_cost
from referee.pairing.table_search import reduce_meetings
from referee.pairing.table_sizes import are_mixed

NEAR: Final = 12  # tables on either side that are searched for a swap
SWEEPS: Final = 6  # passes over the tables that still have repeat meetings
_MEETING_COST: Final = 1_000  # of each earlier meeting of two entrants at a table
_SIBLINGS_COST: Final = 600  # of each pair of siblings at a table, less than a repeat meeting


def pair_tables(history: PairingHistory, people: Sequence[int], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return tables (players in seat order), best scores first. ``sizes`` are those of the tables, the largest first.

    If there are two sizes, those sit at the smaller tables who sat there least often, among equals those with the
    lowest scores. They are paired by themselves; below, two entrants swap between tables of different sizes only if
    they sat at smaller tables equally often.

    1. Cut each score group into as many equal parts as a table has seats; each table gets one entrant from each part.
       Entrants who are left over join the next group as its best.
    2. Swap entrants between neighbouring tables as long as this reduces repeat meetings and meetings of siblings;
       among equally good swaps choose the one with the smallest difference in score.
    3. If any are left, search further (``table_search``): fewest repeat meetings, then fewest siblings at a table, then
       the smallest differences in score.
    4. Seat each table.
    """
    ranked = sorted(people, key=lambda player: (-history.score[player], player))
    tables = (
        _split_among_sizes(history, ranked, sizes) if are_mixed(sizes) else _split_by_score(history, ranked, sizes[0])
    )
    _TableSwaps(history, tables).improve()
    reduce_meetings(history, tables)
    return [_seat_table(history, table) for table in tables]


def _split_among_sizes(history: PairingHistory, ranked: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
    smaller = [size for size in sizes if size < sizes[0]]
    apart = {*sorted(ranked, key=lambda player: -history.small[player])[-sum(smaller) :]}
    tables = _split_by_score(history, [player for player in ranked if player not in apart], sizes[0])
    tables += _split_by_score(history, [player for player in ranked if player in apart], smaller[0])
    return sorted(tables, key=lambda table: -Fraction(sum(history.score[player] for player in table), len(table)))


def _split_by_score(history: PairingHistory, ranked: Sequence[int], seats: int) -> list[list[int]]:
    tables: list[list[int]] = []
    carried: list[int] = []
    for _, group in groupby(ranked, key=lambda player: history.score[player]):
        bracket = [*carried, *group]
        whole = len(bracket) // seats
        tables += [bracket[first : whole * seats : whole] for first in range(whole)]
        carried = bracket[whole * seats :]
    return tables


def _seat_table(history: PairingHistory, table: Sequence[int]) -> tuple[int, ...]:
    """Return the players in seat order, each where they sat least often and preferably not where they sat last."""
    costs = []
    for player in table:
        row = [4 * seat_cost(taken) for taken in history.seat_counts[player]]
        if history.recent_seats[player]:
            row[history.recent_seats[player][-1]] += 1
        costs.append(row)
    return tuple(table[index] for index in assign_seats(costs))


class _TableSwaps:
    """Swap players with repeat meetings to tables where they have fewer of them."""

    def __init__(self, history: PairingHistory, tables: list[list[int]]) -> None:
        self.score, self.met, self.tables, self.small = history.score, history.met, tables, history.small
        self.family = history.family
        self.near = max(NEAR, len(tables) if len(tables) <= 2 * NEAR else 0)

    def improve(self) -> None:
        for _ in range(SWEEPS):
            tables = enumerate(self.tables)
            costly = [at for at, table in tables if any(self._seat_cost(player, table, player) for player in table)]
            if not [index for index in costly if self._swap_members(index)]:
                return

    def _seat_cost(self, player: int, table: Sequence[int], replaced: int) -> int:
        """Return the cost of seating ``player`` at ``table`` in place of its member ``replaced``."""
        met, family = self.met[player], self.family[player]
        cost = 0
        for other in table:
            if other in met and other != replaced and other != player:
                cost += _MEETING_COST * met[other]
        if family:
            others = (other for other in table if other not in (replaced, player))
            cost += _SIBLINGS_COST * sum(self.family[other] == family for other in others)
        return cost

    def _swap_members(self, table_index: int) -> bool:
        """Swap members of a table with members of other tables where this reduces costs.

        Return whether any was swapped.
        """
        table, swapped = self.tables[table_index], False
        for index in range(len(table) - 1, -1, -1):
            player = table[index]
            current = self._seat_cost(player, table, player)
            if current and (best := self._best_swap(table_index, index, current)) is not None:
                other_table, other_index = best
                other = self.tables[other_table][other_index]
                table[index], self.tables[other_table][other_index] = other, player
                swapped = True
        return swapped

    def _best_swap(self, table_index: int, index: int, current: int) -> tuple[int, int] | None:
        """Return the table and the position of the entrant for whom a member is best swapped, or None if no swap helps.

        ``current`` is the member's cost at its own table.
        """
        table = self.tables[table_index]
        player = table[index]
        best: tuple[int, int] | None = None
        best_gain = (0, 0)
        for distance in range(1, self.near + 1):
            for other_table_index in (table_index - distance, table_index + distance):
                if not 0 <= other_table_index < len(self.tables):
                    continue
                other_table = self.tables[other_table_index]
                for other_index, other in enumerate(other_table):
                    if len(other_table) != len(table) and self.small[other] != self.small[player]:
                        continue
                    apart = abs(self.score[other] - self.score[player])
                    saved = current - self._seat_cost(player, other_table, other)
                    if saved <= best_gain[0] and apart:
                        continue
                    added = self._seat_cost(other, table, player) - self._seat_cost(other, other_table, other)
                    gain = (saved - added, -apart)
                    if gain[0] > 0 and gain > best_gain:
                        best, best_gain = (other_table_index, other_index), gain
            if best is not None and best_gain[0] >= current and best_gain[1] == 0:
                break  # no better swap can be further away
        return best
