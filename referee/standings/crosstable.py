"""Who met whom, how often, on which seats, and what came of it."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from referee.standings.results import MatchOutcome, comparisons


class Met(NamedTuple):
    """What an entrant has against one rival: matches at one table, and half points (2 for each match placed before
    the rival, 1 level, 0 behind)."""

    matches: int
    half_points: int

    @property
    def points(self) -> Fraction:
        return Fraction(self.half_points, 2)

    @property
    def lead(self) -> int:
        """Matches placed before the rival less those behind it: above 0 the entrant is ahead head to head."""
        return self.half_points - self.matches


Crosstable = Mapping[Hashable, Mapping[Hashable, Met]]


def crosstable(entrants: Iterable[Hashable], outcomes: Iterable[MatchOutcome]) -> Crosstable:
    """By entrant, then by rival, both in the order of ``entrants``; pairs that never met are left out.

    A seat played by a stand-in meets nobody.
    """
    order = list(dict.fromkeys(entrants))
    halves: dict[Hashable, dict[Hashable, list[int]]] = {entrant: {} for entrant in order}
    for outcome in outcomes:
        for entrant, rival, scored in comparisons(outcome, outcome.seats_of(halves)):
            halves[entrant].setdefault(rival, []).append(scored)
    rank = {entrant: place for place, entrant in enumerate(order)}
    return {
        entrant: {rival: Met(len(row[rival]), sum(row[rival])) for rival in sorted(row, key=rank.__getitem__)}
        for entrant, row in halves.items()
    }


def meetings_within(groups: Iterable[Sequence[Hashable]], outcomes: Iterable[MatchOutcome]) -> Crosstable:
    """The crosstable of those pairs alone that are in one group; nobody is in two."""
    group_of = {entrant: number for number, group in enumerate(groups) for entrant in group}
    if not group_of:
        return {}
    met: dict[Hashable, dict[Hashable, Met]] = {}
    for outcome in outcomes:
        seats = outcome.seats_of(group_of)
        if len(seats) < 2:
            continue
        for entrant, rival, scored in comparisons(outcome, seats):
            if group_of[entrant] == group_of[rival]:
                row = met.setdefault(entrant, {})
                matches, half_points = row.get(rival, (0, 0))
                row[rival] = Met(matches + 1, half_points + scored)
    return met


@dataclass(frozen=True, slots=True)
class Meetings:
    """Where and whom one entrant played: matches by seat (up to the largest table of the event), matches by
    opponent (most frequent first, then in the order of entrants), and byes."""

    seats: tuple[int, ...]
    opponents: Mapping[Hashable, int]
    byes: int


def meetings(
    entrants: Iterable[Hashable], outcomes: Iterable[MatchOutcome], byes: Iterable[Hashable] = ()
) -> dict[Hashable, Meetings]:
    """Of every entrant; ``byes`` names whoever had one, once for each.

    Seats played by stand-ins are nobody's, and nobody's opponents.
    """
    order = {entrant: place for place, entrant in enumerate(dict.fromkeys(entrants))}
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
    rested = Counter(byes)
    return {
        entrant: Meetings(
            seats=tuple(seats[entrant][seat] for seat in range(largest)),
            opponents=dict(sorted(opponents[entrant].items(), key=lambda item: (-item[1], order[item[0]]))),
            byes=rested[entrant],
        )
        for entrant in order
    }
