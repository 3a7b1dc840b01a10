"""Fit the strengths of all bots jointly to all results, with their errors. The ratings of ladders are in ``elo``.

The model is that of Plackett and Luce (``model``). The strengths maximise its likelihood (``maximum_likelihood``), and
the curvature of the likelihood gives their errors (``covariance``).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import erf, exp, log, sqrt

from referee.ratings.strengths.covariance import Errors, RoughErrors
from referee.ratings.strengths.maximum_likelihood import maximise_likelihood
from referee.ratings.strengths.model import Likelihood, Prior, RankedResult, likelihood

__all__ = ["Fit", "RankedResult", "Strength", "anchor_level", "fit", "half_width"]

POINTS = 400 / log(10)  # points per factor e in strength, so that ten to one is 400 points, as on the ladder
MEAN = 1_500.0
NORMAL_95 = 1.959964
DRAWS = 3.0  # against the mean: a standard deviation of strengths of 200 points
EXACT = 400  # up to this number of bots, errors use the full curvature, which takes O(bots³)


@dataclass(frozen=True, slots=True)
class Strength:
    """Hold a bot's strength in points, its 95 % interval and its standard error.

    The points are on the scale of the anchors or, if no result has any, such that the mean of all bots is 1500.
    ``superior_to_next`` is the probability that the bot is stronger than the next one ranked (None for the last).
    ``best_rank`` and ``worst_rank`` are the limits of its rank that follow from the intervals of all bots.
    """

    id: str
    points: float
    low: float
    high: float
    se: float
    matches: int
    superior_to_next: float | None
    best_rank: int
    worst_rank: int


@dataclass(frozen=True, slots=True)
class Fit:
    """Hold fitted strengths, the strongest first.

    ``converged`` is true if they maximise the likelihood to within a hundredth of a point, ``exact`` if the standard
    errors use the full curvature of the likelihood.
    """

    rows: list[Strength]
    iterations: int
    converged: bool
    exact: bool


def fit(
    results: Iterable[RankedResult],
    *,
    prior: float = DRAWS,
    anchors: Mapping[str, tuple[float, float]] | None = None,
    iterations: int = 1_000,
    exact: int = EXACT,
) -> Fit:
    """Return the strengths that maximise the likelihood of the results.

    Results with a single rated seat and no anchor are ignored. ``prior`` is the number of additional draws of each bot
    against a player of strength 1, which is 1500 points with anchors. ``anchors`` has the ids of bots whose strength is
    known with a standard error, and both in points; they get no row. With more than ``exact`` bots the errors are
    approximate: they treat opponents' strengths as known, which is a good approximation if each bot met many opponents.

    Raise ``ValueError`` if the columns of a result differ in length, if it seats a bot twice, or if ``prior`` is not
    above 0.
    """
    if not prior > 0:
        raise ValueError(f"prior must be above 0, not {prior}")
    known = {
        bot: Prior(4 * (POINTS / error) ** 2, exp(anchor_level(points)))
        for bot, (points, error) in (anchors or {}).items()
    }
    model = likelihood(results, Prior(prior), known)
    whole = len(model.ids) - len(known) <= exact
    levels, taken, converged = maximise_likelihood(model, iterations, tolerance=0.01 / POINTS, newton=whole)
    spread = Errors(model, levels) if whole else RoughErrors(model, levels)
    return Fit(_rows(model, levels, spread, known), taken, converged, whole)


def half_width(distance: float, se: float) -> float:
    """Return the w for which a normally distributed value lies within w of a point with a probability of 95 %.

    ``distance`` is that of the point from the mean, and ``se`` the standard deviation, above 0.
    """
    low, high = 0.0, abs(distance) + NORMAL_95 * se
    while high - low > se / 1_000:
        middle = (low + high) / 2
        is_within = _normal((middle - distance) / se) - _normal((-middle - distance) / se)
        low, high = (middle, high) if is_within < 0.95 else (low, middle)
    return high


def anchor_level(points: float) -> float:
    """Return the logarithm of the strength of an anchor with a rating of ``points``, for ``RankedResult.anchors``."""
    return (points - MEAN) / POINTS


def _rows(
    model: Likelihood, levels: list[float], spread: Errors | RoughErrors, anchors: Collection[str]
) -> list[Strength]:
    """Return the rows of a fit without ``anchors``.

    ``levels`` has the logarithm of each bot's strength, in the order of the bots' numbers.
    """
    bots = [bot for bot, name in enumerate(model.ids) if name not in anchors]
    if not bots:
        return []
    mean = 0.0 if model.has_anchors else sum(levels) / len(levels)
    points = [MEAN + POINTS * (level - mean) for level in levels]
    reach = [NORMAL_95 * POINTS * spread.error_of(bot) for bot in range(len(levels))]
    lows = sorted(points[bot] - reach[bot] for bot in bots)
    highs = sorted(points[bot] + reach[bot] for bot in bots)
    ranking = sorted(bots, key=lambda bot: -points[bot])  # of equals, the lower id first
    superior: list[float | None] = [
        _normal((levels[bot] - levels[below]) / spread.error_of_difference(bot, below))
        for bot, below in pairwise(ranking)
    ]
    return [
        Strength(
            id=model.ids[bot],
            points=points[bot],
            low=points[bot] - reach[bot],
            high=points[bot] + reach[bot],
            se=POINTS * spread.error_of(bot),
            matches=model.matches[bot],
            superior_to_next=above,
            best_rank=1 + len(lows) - bisect_right(lows, points[bot] + reach[bot]),
            worst_rank=len(highs) - bisect_left(highs, points[bot] - reach[bot]),
        )
        for bot, above in zip(ranking, [*superior, None], strict=True)
    ]


def _normal(deviation: float) -> float:
    """Return the value of the cumulative standard normal distribution at ``deviation``."""
    return (1 + erf(deviation / sqrt(2))) / 2
