"""Merge the matches that play one deal with rotated seats into one leg, for formats that count legs."""

from collections.abc import Sequence

from referee.pairing.history import half_points
from referee.pairing.model import Leg


def merge_duplicates(matches: Sequence[Leg]) -> Leg:
    """Return a duplicate set of matches as one leg, in the seat order of its first match.

    Placements follow from the sums of standings points (equal sums are ties); returns are summed.
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
