"""The likeliest strengths: minorisation and maximisation, then Newton's method. What is climbed is ``model``.

Each step of the first kind, of D. R. Hunter, MM algorithms for generalized Bradley–Terry models, Annals of Statistics
32 (2004), pages 384–406, makes the results likelier from wherever it starts, but may take thousands of steps to the
last digit; Newton's method takes a few from there, and needs the curvature, which costs bots cubed.
"""

from math import exp, log

from referee.ratings.strengths.covariance import Curvature
from referee.ratings.strengths.model import Likelihood

_NEAR = 0.1  # where Newton's method takes over: steps of less than this in the logarithm of every strength
_HALVINGS = 30


def maximise_likelihood(
    said: Likelihood, limit: int, *, tolerance: float, newton: bool
) -> tuple[list[float], int, bool]:
    """The logarithms of the strengths, the number of steps, and whether they are within ``tolerance`` of the best.

    After ``limit`` steps it stops where it is. Without ``newton`` the distance left is judged by how the steps shrink.
    """
    levels = [0.0] * len(said.ids)
    if not levels:
        return levels, 0, True
    before: float | None = None
    for taken in range(1, limit + 1):
        higher = _shift_to_prior(_minorise_maximise_step(said, levels))
        step = max(abs(new - old) for new, old in zip(higher, levels, strict=True))
        levels = higher
        if newton and step < _NEAR:
            return _newton_steps(said, levels, taken, limit, tolerance)
        # Steps that shrink by a factor r each still have r / (1 - r) of the last one before them.
        if before is not None and (step == 0 or (step < before and step * step / (before - step) < tolerance)):
            return levels, taken, True
        before = step
    return levels, limit, False


def _minorise_maximise_step(said: Likelihood, levels: list[float]) -> list[float]:
    """One step: the maximum of the minorising function, in which the strengths are apart from each other."""
    strengths = [exp(level) for level in levels]
    chances = [said.prior / (1 + strength) for strength in strengths]
    for members, weight in said.choices:
        share = weight / sum([strengths[bot] for bot in members])
        for bot in members:
            chances[bot] += share
    return [log((won + said.prior / 2) / chance) for won, chance in zip(said.wins, chances, strict=True)]


def _shift_to_prior(levels: list[float]) -> list[float]:
    """All levels moved by as much as the prior likes best; to the results it is the same."""
    move = 0.0
    for _ in range(_HALVINGS):
        shares = [1 / (1 + exp(-level - move)) for level in levels]
        slope = len(levels) / 2 - sum(shares)
        bend = sum(share * (1 - share) for share in shares)
        step = max(-1.0, min(1.0, slope / bend))
        move += step
        if abs(step) < 1e-12:
            break
    return [level + move for level in levels]


def _newton_steps(
    said: Likelihood, levels: list[float], taken: int, limit: int, tolerance: float
) -> tuple[list[float], int, bool]:
    """A curvature serves as long as the ways it shows shrink well: it is the dear part."""
    height, before = said.log(levels), float("inf")
    curvature = Curvature(said, levels)
    for step in range(taken, limit + 1):
        way = curvature.solve(said.slope(levels))
        length = max(map(abs, way))
        if length < tolerance:
            return [level + part for level, part in zip(levels, way, strict=True)], step, True
        if length > before / 4:
            curvature = Curvature(said, levels)
            way = curvature.solve(said.slope(levels))
            length = max(map(abs, way))
        for _ in range(_HALVINGS):
            higher = [level + part for level, part in zip(levels, way, strict=True)]
            reached = said.log(higher)
            if reached >= height:
                break
            way = [part / 2 for part in way]
        levels, height, before = higher, reached, length
    return levels, limit, False
