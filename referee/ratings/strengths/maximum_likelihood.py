"""Find maximum likelihood strengths by minorise-maximise (MM) steps, then by Newton's method.

An MM step (D. R. Hunter, MM algorithms for generalized Bradley–Terry models, Annals of Statistics 32 (2004), pages
384–406) increases the likelihood from any starting point, but the last digits may take thousands of steps. Newton's
method needs only a few steps near the maximum, but each may compute the curvature, which takes O(bots³).
"""

from math import exp, log

from referee.ratings.strengths.covariance import Curvature
from referee.ratings.strengths.model import Likelihood

_NEAR = 0.1  # Newton's method takes over when all logarithms change by less than this
_ROUNDING = 1e-12  # steps this small are rounding errors, which need not shrink any further
_HALVINGS = 30


def maximise_likelihood(
    model: Likelihood, limit: int, *, tolerance: float, newton: bool
) -> tuple[list[float], int, bool]:
    """Return the logarithms of the strengths, the number of steps, and whether the result is within ``tolerance``.

    Stop after ``limit`` steps. Without ``newton``, estimate the remaining distance from how the steps shrink.
    """
    levels = [0.0] * len(model.ids)
    if not levels:
        return levels, 0, True
    before: float | None = None
    is_anchored = model.has_anchors
    for taken in range(1, limit + 1):
        higher = _minorise_maximise_step(model, levels)
        if not is_anchored:
            higher = _shift_to_prior(higher)
        step = max(abs(new - old) for new, old in zip(higher, levels, strict=True))
        levels = higher
        if newton and step < _NEAR:
            return _newton_steps(model, levels, taken, limit, tolerance)
        # If each step is r times the one before, the remaining steps add up to r / (1 - r) of the last one.
        is_near = before is not None and step < before and step * step / (before - step) < tolerance
        if is_near or step < _ROUNDING:
            return levels, taken, True
        before = step
    return levels, limit, False


def _minorise_maximise_step(model: Likelihood, levels: list[float]) -> list[float]:
    """Return the strengths that maximise the minorising function, in which they are independent of each other."""
    strengths = [exp(level) for level in levels]
    chances = [
        prior.draws / (prior.strength + strength) for prior, strength in zip(model.priors, strengths, strict=True)
    ]
    for members, weight, known in model.choices:
        share = weight / (sum([strengths[bot] for bot in members]) + known)
        for bot in members:
            chances[bot] += share
    wins = [won + prior.draws / 2 for won, prior in zip(model.wins, model.priors, strict=True)]
    return [log(won / chance) for won, chance in zip(wins, chances, strict=True)]


def _shift_to_prior(levels: list[float]) -> list[float]:
    """Shift all levels by the amount that maximises the prior. This does not change the likelihood of the results."""
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
    model: Likelihood, levels: list[float], taken: int, limit: int, tolerance: float
) -> tuple[list[float], int, bool]:
    """Run Newton's method. Reuse the factored curvature while steps keep shrinking: factoring dominates the cost."""
    height, before = model.log(levels), float("inf")
    curvature = Curvature(model, levels)
    for step in range(taken, limit + 1):
        direction = curvature.solve(model.slope(levels))
        length = max(map(abs, direction))
        if length < tolerance:
            return [level + part for level, part in zip(levels, direction, strict=True)], step, True
        if length > before / 4:
            curvature = Curvature(model, levels)
            direction = curvature.solve(model.slope(levels))
            length = max(map(abs, direction))
        for _ in range(_HALVINGS):
            higher = [level + part for level, part in zip(levels, direction, strict=True)]
            reached = model.log(higher)
            if reached >= height:
                break
            direction = [part / 2 for part in direction]
        levels, height, before = higher, reached, length
    return levels, limit, False
