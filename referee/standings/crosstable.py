"""Compute head-to-head results within groups of entrants."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
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
