"""Compute head-to-head results and count the seats and opponents of entrants."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from referee.standings.results import MatchOutcome, comparisons


class HeadToHead(NamedTuple):
    """Hold the results of an entrant against one rival: matches at the same table, and half points (per match 2 if
    placed ahead of the rival, 1 if tied, 0 if behind)."""

    matches: int
    half_points: int

    @property
    def points(self) -> Fraction:
        return Fraction(self.half_points, 2)

    @property
    def lead(self) -> int:
        """Return the number of matches ahead of the rival minus the number behind.

        It is positive if the entrant leads.
        """
        return self.half_points - self.matches


Crosstable = Mapping[Hashable, Mapping[Hashable, HeadToHead]]


def crosstable(entrants: Iterable[Hashable], outcomes: Iterable[MatchOutcome]) -> Crosstable:
    """Return the results keyed by entrant and rival, both in the order of ``entrants``. Omit pairs that never met.

    Seats played by a substitute are ignored.
    """
    order = list(dict.fromkeys(entrants))
    halves: dict[Hashable, dict[Hashable, list[int]]] = {entrant: {} for entrant in order}
    for outcome in outcomes:
        for entrant, rival, scored in comparisons(outcome, outcome.seats_of(halves)):
            halves[entrant].setdefault(rival, []).append(scored)
    position = {entrant: index for index, entrant in enumerate(order)}
    return {
        entrant: {
            rival: HeadToHead(len(row[rival]), sum(row[rival])) for rival in sorted(row, key=position.__getitem__)
        }
        for entrant, row in halves.items()
    }


def meetings_within(groups: Iterable[Sequence[Hashable]], outcomes: Iterable[MatchOutcome]) -> Crosstable:
    """Return the crosstable of all pairs within the same group. Groups must be disjoint."""
    group_of = {entrant: number for number, group in enumerate(groups) for entrant in group}
    if not group_of:
        return {}
    met: dict[Hashable, dict[Hashable, HeadToHead]] = {}
    for outcome in outcomes:
        seats = outcome.seats_of(group_of)
        if len(seats) < 2:
            continue
        for entrant, rival, scored in comparisons(outcome, seats):
            if group_of[entrant] == group_of[rival]:
                row = met.setdefault(entrant, {})
                matches, half_points = row.get(rival, (0, 0))
                row[rival] = HeadToHead(matches + 1, half_points + scored)
    return met


@dataclass(frozen=True, slots=True)
class OpponentCounts:
    """Hold the number of one entrant's matches in each seat and against each opponent, and the number of its byes.

    There are as many seats as the largest table has. The most frequent opponents come first, then the order is that of
    entrants.
    """

    seats: tuple[int, ...]
    opponents: Mapping[Hashable, int]
    byes: int


def count_opponents(
    entrants: Iterable[Hashable], outcomes: Iterable[MatchOutcome], byes: Iterable[Hashable] = ()
) -> dict[Hashable, OpponentCounts]:
    """Return the counts of every entrant.

    ``byes`` names an entrant once for each of its byes. Seats in which a substitute played are ignored.
    """
    order = {entrant: index for index, entrant in enumerate(dict.fromkeys(entrants))}
    seats: dict[Hashable, Counter[int]] = {entrant: Counter() for entrant in order}
    opponents: dict[Hashable, Counter[Hashable]] = {entrant: Counter() for entrant in order}
    largest = 0
    for outcome in outcomes:
        largest = max(largest, len(outcome.entrants))
        present = outcome.seats_of(order)
        seated = [outcome.entrants[seat] for seat in present]
        for seat, entrant in zip(present, seated, strict=True):
            seats[entrant][seat] += 1
            opponents[entrant].update(rival for rival in seated if rival != entrant)
    bye_counts = Counter(byes)
    return {
        entrant: OpponentCounts(
            seats=tuple(seats[entrant][seat] for seat in range(largest)),
            opponents=dict(sorted(opponents[entrant].items(), key=lambda item: (-item[1], order[item[0]]))),
            byes=bye_counts[entrant],
        )
        for entrant in order
    }
