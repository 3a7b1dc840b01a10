"""Place siblings far apart in the first round of a knockout, by swaps of seeds of about equal strength.

``bracket_state`` reads rounds that were paired; they keep the places that they have.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

FREE: Final = ""  # stands for the owner of everybody without siblings
NEAR: Final = 64  # most places between two seeds that swap without others


@dataclass(frozen=True, slots=True)
class BracketLayout:
    """Describe the positions of a first round, from 0, the strongest first.

    Seeds may swap within one of the ``tiers``. ``parts`` has, for each level from the largest parts to the smallest,
    the part of every position: entrants in the same part meet before those in different ones.
    """

    tiers: tuple[tuple[int, ...], ...]
    parts: tuple[tuple[int, ...], ...]


def layout_of_pairs(field: int) -> BracketLayout:
    """Return the layout at tables of two: halves, quarters … tables, and the tiers 3–4, 5–8, 9–16 …"""
    size = 1 << (field - 1).bit_length()
    starts = [1 << level for level in range(1, size.bit_length() - 1)]
    tiers = tuple(tuple(range(start, min(2 * start, field))) for start in starts)
    return BracketLayout(
        tiers, tuple(tuple(_fold(position, size, parts) for position in range(field)) for parts in starts)
    )


def layout_of_tables(field: int, tables: Sequence[Sequence[int]]) -> BracketLayout:
    """Return the layout at larger tables, given the positions at each, strongest first.

    The strongest entrant of each table keeps its table; the second strongest may swap theirs, the third strongest too,
    and so on.
    """
    parts = [-1 - position for position in range(field)]
    for number, positions in enumerate(tables):
        for position in positions:
            parts[position] = number
    rows = [tuple(sorted(row)) for row in split_rows(tables)]
    return BracketLayout(tuple(rows[1:]), (tuple(parts),))


def split_rows(tables: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the strongest of each table, then the second strongest of each, and so on. Smaller tables end earlier."""
    return [[table[row] for table in tables if row < len(table)] for row in range(max(map(len, tables)))]


@lru_cache(maxsize=16)  # large fields with many siblings take a second or two
def place_siblings(owners: tuple[str, ...], layout: BracketLayout) -> tuple[int, ...]:
    """Return the seed (from 0) for each position. ``owners`` has the owner of each seed, "" for none.

    Swaps of two seeds of a tier reduce the pairs of siblings in the same part: first in the same half of the bracket,
    then in the same quarter, and so on. Among these placements, seeds move by few places, and rather the weaker ones.
    Without siblings, every seed has its own position.
    """
    sizes = Counter(owner for owner in owners if owner)
    families = {owner for owner, size in sizes.items() if 1 < size < len(owners)}
    placement = _Placement([owner if owner in families else FREE for owner in owners], layout)
    while families and placement.sweep():
        pass
    return tuple(placement.seeds)


def _fold(position: int, size: int, parts: int) -> int:
    """Return the number of the part of a bracket of ``size``, among ``parts``, that contains a position."""
    while size > parts:
        position, size = min(position, size - 1 - position), size // 2
    return position


class _Placement:
    """Improve the placement of a field. ``seeds`` has the seed at each position."""

    def __init__(self, owners: Sequence[str], layout: BracketLayout) -> None:
        self.seeds = list(range(len(owners)))
        self._owners, self._layout = owners, layout  # owners by seed
        self._sizes = Counter(owners)
        self._numbers = [len({*parts}) for parts in layout.parts]
        self._unchanged = (0,) * (len(layout.parts) + 1)
        self._in_part = [
            Counter((part, owner) for part, owner in zip(parts, owners, strict=True)) for parts in layout.parts
        ]

    def sweep(self) -> int:
        """Make the best swap of each position, the weakest first, so that they make way. Return the number of swaps."""
        tiers = reversed(self._layout.tiers)
        return sum(self._swap_best(position, tier) for tier in tiers for position in reversed(tier))

    def _swap_best(self, position: int, tier: Sequence[int]) -> bool:
        """Swap the seed at a position with the best other one, if it is among too many siblings or was moved."""
        crowded = self._is_crowded(position)
        if not crowded and self.seeds[position] == position:
            return False
        best, best_cost = position, self._unchanged
        for other in tier:
            moved = self._count_moved_places(position, other)
            if abs(other - position) <= NEAR and (crowded or moved < 0):
                cost = (*self._count_pairs(position, other), moved)
                if cost < best_cost:
                    best, best_cost = other, cost
        self._swap(position, best)
        return best != position

    def _is_crowded(self, position: int) -> bool:
        """Return whether more siblings than necessary share a part with the seed at this position."""
        owner = self._owner(position)
        return owner != FREE and any(
            counts[parts[position], owner] > -(-self._sizes[owner] // number)
            for parts, counts, number in zip(self._layout.parts, self._in_part, self._numbers, strict=True)
        )

    def _count_moved_places(self, one: int, two: int) -> int:
        """Return by how many more places seeds are moved after a swap."""
        seed, other = self.seeds[one], self.seeds[two]
        return abs(one - other) + abs(two - seed) - abs(one - seed) - abs(two - other)

    def _count_pairs(self, one: int, two: int) -> Sequence[int]:
        """Return the change of the number of pairs of siblings in the same part by a swap, for each level.

        The list ends early if more pairs are certain to make the swap worse.
        """
        owner, rival = self._owner(one), self._owner(two)
        if owner == rival:
            return self._unchanged[1:]
        changes: list[int] = []
        for parts, counts in zip(self._layout.parts, self._in_part, strict=True):
            change, here, there = 0, parts[one], parts[two]
            if here != there:
                if owner != FREE:
                    change += counts[there, owner] - counts[here, owner] + 1
                if rival != FREE:
                    change += counts[here, rival] - counts[there, rival] + 1
            changes.append(change)
            if change > 0 and not any(changes[:-1]):
                break
        return changes

    def _swap(self, one: int, two: int) -> None:
        for sign in (-1, 1):
            for position in (one, two):
                for parts, counts in zip(self._layout.parts, self._in_part, strict=True):
                    counts[parts[position], self._owner(position)] += sign
            if sign < 0:
                self.seeds[one], self.seeds[two] = self.seeds[two], self.seeds[one]

    def _owner(self, position: int) -> str:
        return self._owners[self.seeds[position]]
