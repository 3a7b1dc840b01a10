"""A Swiss stage at tables of three and more: tables by score, then swaps until repeat meetings are few."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from referee.pairing.history import Past
from referee.pairing.seating import assign_seats, seat_cost

NEAR: Final = 12  # swaps are looked for among so many tables on either side
ROUNDS: Final = 6  # how often the tables that are not yet clean are gone through
_MEETING: Final = 1_000  # a repeat meeting, in the cost of a table
_SIBLINGS: Final = 600  # more than any score apart, less than a meeting


def tables_of_more(past: Past, people: Sequence[int], seats: int) -> list[tuple[int, ...]]:
    """Tables by seat, the highest first. ``people`` are a multiple of ``seats``.

    Each score group is cut into as many quarters (thirds, …) as there are seats, and a table has one of each; who
    is left over joins the next group as its best. Then members of neighbouring tables are swapped as long as there
    are fewer repeat meetings (and siblings) for it; among such swaps the one between the nearest scores.
    """
    ranked = sorted(people, key=lambda one: (-past.score[one], one))
    tables = _by_score(past, ranked, seats)
    _Swaps(past, tables).improve()
    return [_in_seats(past, table) for table in tables]


def _by_score(past: Past, ranked: Sequence[int], seats: int) -> list[list[int]]:
    tables: list[list[int]] = []
    carried: list[int] = []
    for _, group in groupby(ranked, key=lambda one: past.score[one]):
        bracket = [*carried, *group]
        whole = len(bracket) // seats
        tables += [bracket[at : whole * seats : whole] for at in range(whole)]
        carried = bracket[whole * seats :]
    return tables


def _in_seats(past: Past, table: Sequence[int]) -> tuple[int, ...]:
    """Everybody where it sat least, and not where it sat last."""
    costs = []
    for one in table:
        row = [4 * seat_cost(taken) for taken in past.sat[one]]
        if past.lately[one]:
            row[past.lately[one][-1]] += 1
        costs.append(row)
    return tuple(table[who] for who in assign_seats(costs))


class _Swaps:
    """Takes people who have met their table before to tables where they meet fewer."""

    def __init__(self, past: Past, tables: list[list[int]]) -> None:
        self.score, self.met, self.tables = past.score, past.met, tables
        self.kin = [past.kin(one) for one in range(len(past.ids))] if past.siblings else None
        self.near = max(NEAR, len(tables) if len(tables) <= 2 * NEAR else 0)

    def improve(self) -> None:
        for _ in range(ROUNDS):
            troubled = [at for at, table in enumerate(self.tables) if self._trouble(table)]
            if not [at for at in troubled if self._relieve(at)]:
                return

    def _trouble(self, table: Sequence[int]) -> int:
        """What the meetings of a table cost."""
        cost = 0
        for place, one in enumerate(table):
            cost += sum(self._swap_cost(one, other) for other in table[:place])
        return cost

    def _swap_cost(self, one: int, other: int) -> int:
        cost = _MEETING * self.met[one].get(other, 0)
        if self.kin is not None:
            family = self.kin[one]
            if family is not None and other in family:
                cost += _SIBLINGS
        return cost

    def _meets(self, one: int, table: Sequence[int], without: int) -> int:
        """What it costs to have one at a table in the place of another."""
        met = self.met[one]
        cost = 0
        for other in table:
            if other in met and other != without and other != one:
                cost += _MEETING * met[other]
        if self.kin is not None:
            family = self.kin[one]
            if family is not None:
                cost += _SIBLINGS * sum(other in family for other in table if other not in (without, one))
        return cost

    def _relieve(self, at: int) -> bool:
        """Swaps members of a table away while that helps; whether any was."""
        helped = False
        for place in range(len(self.tables[at]) - 1, -1, -1):
            one = self.tables[at][place]
            here = self._meets(one, self.tables[at], one)
            if here and (best := self._best_swap(at, place, here)) is not None:
                other_table, other_place = best
                other = self.tables[other_table][other_place]
                self.tables[at][place], self.tables[other_table][other_place] = other, one
                helped = True
        return helped

    def _best_swap(self, at: int, place: int, here: int) -> tuple[int, int] | None:
        table = self.tables[at]
        one = table[place]
        score = self.score[one]
        best: tuple[int, int] | None = None
        best_gain = (0, 0)
        for distance in range(1, self.near + 1):
            for other_at in (at - distance, at + distance):
                if not 0 <= other_at < len(self.tables):
                    continue
                other_table = self.tables[other_at]
                for other_place, other in enumerate(other_table):
                    apart = abs(self.score[other] - score)
                    there = self._meets(one, other_table, other)
                    if here - there <= best_gain[0] and apart:
                        continue
                    gain = (
                        here - there + self._meets(other, other_table, other) - self._meets(other, table, one),
                        -apart,
                    )
                    if gain[0] > 0 and gain > best_gain:
                        best, best_gain = (other_at, other_place), gain
            if best is not None and best_gain[0] >= here and best_gain[1] == 0:
                break  # nothing better can be further away
        return best
