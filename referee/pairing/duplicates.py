"""Duplicate play for formats that count legs: the matches of one set of deals, seats rotated, are one leg."""

from collections.abc import Sequence

from referee.pairing.history import half_shares
from referee.pairing.model import Leg


def as_one(matches: Sequence[Leg]) -> Leg:
    """The leg that a duplicate set amounts to, seated like its first match: placed by the points of the standings,
    added up, equal points tied; returns added up."""
    seated = matches[0].entrants
    points, returns = dict.fromkeys(seated, 0), dict.fromkeys(seated, 0)
    for match in matches:
        for one, share, gain in zip(match.entrants, half_shares(match.placements), match.returns, strict=True):
            points[one] += share
            returns[one] += gain
    placements = tuple(1 + sum(points[other] > points[one] for other in seated) for one in seated)
    return Leg(seated, placements, tuple(returns[one] for one in seated))
