"""Tournament tables from results: points, wins, shared places. Fetching the results is the record's."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Row:
    """One entrant's line. ``points`` are the shares of opponents left behind (a tie counts half), 1 at most a
    match; ``place`` is 1 + number of entrants with more points, so equal points share a place."""

    place: int
    entrant: Hashable
    matches: int
    points: Fraction
    wins: int
    returns: int


def points(placements: Sequence[int]) -> list[Fraction]:
    """The points of each seat for one match: (worse seats + half of the tied ones) / (seats − 1)."""
    return [
        Fraction(
            2 * sum(other > own for other in placements) + placements.count(own) - 1,
            2 * (len(placements) - 1),
        )
        for own in placements
    ]


def table(
    entrants: Iterable[Hashable], results: Iterable[tuple[Sequence[Hashable], Sequence[int], Sequence[int]]]
) -> list[Row]:
    """The standings, best first; ties in the order of ``entrants``.

    A result is (entrants by seat, placements, returns); an entrant without a match stands with no points.
    """
    order = {entrant: place for place, entrant in enumerate(entrants)}
    total = dict.fromkeys(order, Fraction(0))
    matches, wins, gained = (dict.fromkeys(order, 0) for _ in range(3))
    for seated, placements, returns in results:
        for entrant, own, placement, gain in zip(seated, points(placements), placements, returns, strict=True):
            if entrant in order:
                total[entrant] += own
                matches[entrant] += 1
                wins[entrant] += placement == 1
                gained[entrant] += gain
    ranked = sorted(order, key=lambda entrant: (-total[entrant], order[entrant]))
    places: dict[Fraction, int] = {}
    for place, entrant in enumerate(ranked, 1):
        places.setdefault(total[entrant], place)
    return [
        Row(
            place=places[total[entrant]],
            entrant=entrant,
            matches=matches[entrant],
            points=total[entrant],
            wins=wins[entrant],
            returns=gained[entrant],
        )
        for entrant in ranked
    ]
