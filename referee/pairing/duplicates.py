"""Duplicate play in formats that count legs: the matches of one deal, seats rotated, form one leg."""

from collections.abc import Sequence

from referee.pairing.history import half_points
from referee.pairing.model import Leg


def merge_duplicates(matches: Sequence[Leg]) -> Leg:
    """Return the leg that a duplicate set amounts to, seated like its first match.

    Placements follow from the summed standings points, equal sums tied; returns are summed.
    """
    seated = matches[0].entrants
    points, returns = dict.fromkeys(seated, 0), dict.fromkeys(seated, 0)
    for match in matches:
        gains = zip(match.entrants, half_points(match.placements), match.returns, strict=True)
        for entrant, scored, returned in gains:
            points[entrant] += scored
            returns[entrant] += returned
    placements = tuple(1 + sum(points[other] > points[entrant] for other in seated) for entrant in seated)
    return Leg(seated, placements, tuple(returns[entrant] for entrant in seated))
