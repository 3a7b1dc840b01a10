"""Compute head-to-head results of all entrants."""

from collections.abc import Hashable, Iterable

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
