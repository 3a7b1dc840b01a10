"""Compute head-to-head results of all entrants, and count their seats and opponents."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from referee.standings import Crosstable, HeadToHead
from referee.standings.results import MatchOutcome, comparisons


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
