"""Results that follow from true strengths, and how well ratings agree with these."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log
from random import Random

from referee.ratings.strengths import POINTS


def draw_placements(strengths: Sequence[float], dice: Random, shared: float = 0.0) -> list[int]:
    """Return the placements at a table of players of these strengths, in points.

    ``shared`` is the probability that a placement is tied with the one above.
    """
    # The Plackett–Luce order is that of exponential times with the strengths as rates.
    times = [log(dice.expovariate(1)) - points / POINTS for points in strengths]
    placement, placements = 0, [0] * len(strengths)
    for seat in sorted(range(len(strengths)), key=times.__getitem__):
        placement += dice.random() >= shared
        placements[seat] = placement
    return placements


def kendall(truth: Mapping[str, float], found: Mapping[str, int] | Mapping[str, float]) -> float:
    """Return tau: pairs in the right order minus those in the wrong order, as a share of all pairs."""
    pairs = list(combinations(found, 2))
    signs = [(truth[one] - truth[other]) * (found[one] - found[other]) for one, other in pairs]
    return sum((sign > 0) - (sign < 0) for sign in signs) / len(pairs)
