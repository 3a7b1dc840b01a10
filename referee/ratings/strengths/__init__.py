"""How strong bots are, from all their results at once, and how sure that is. The ladder is in ``ratings``.

The model is Plackett and Luce's (``model``), the strengths are found by climbing its likelihood (``climb``), their
errors come from its curvature (``covariance``).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import erf, log, sqrt

from referee.ratings.strengths.covariance import Errors, RoughErrors
from referee.ratings.strengths.maximum_likelihood import maximise_likelihood
from referee.ratings.strengths.model import Likelihood, likelihood

POINTS = 400 / log(10)  # points of a factor e in strength: ten to one is 400 points, as on the ladder
MEAN = 1_500.0
NORMAL_95 = 1.959964
EXACT = 400  # up to so many bots, errors come from the whole curvature, which costs bots cubed

Result = tuple[Sequence[str], Sequence[int], Sequence[bool] | None]


@dataclass(frozen=True, slots=True)
class Strength:
    """A bot's strength in points (the mean of all is 1500), its 95 % interval and standard error.

    ``superior_to_next`` is the probability that it is stronger than the next in the ranking (None: it is the last).
    ``best_rank`` and ``worst_rank`` are the ranks that the intervals of all leave open.
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
    """Strengths from the strongest down.

    ``converged``: they are the likeliest, to a hundredth of a point. ``exact``: their errors come from the whole
    curvature of the likelihood.
    """

    rows: list[Strength]
    iterations: int
    converged: bool
    exact: bool


def fit(results: Iterable[Result], *, prior: float = 1.0, iterations: int = 1_000, exact: int = EXACT) -> Fit:
    """The strengths that make the results likeliest.

    A result gives, by seat, bots, placements (1 is best, equal numbers tie) and which seats are rated (None: all);
    results with fewer than two rated seats say nothing. ``prior`` is the number of drawn matches each bot has played
    besides, with a player of strength 1. With more than ``exact`` bots the errors are approximate: opponents count as
    if their strengths were known, which is close when each bot met many. Raises ValueError where a result's columns
    differ in length, where it seats a bot twice, or where ``prior`` is not above 0.
    """
    if not prior > 0:
        raise ValueError(f"prior must be above 0, not {prior}")
    said = likelihood(results, prior)
    whole = len(said.ids) <= exact
    levels, taken, converged = maximise_likelihood(said, iterations, tolerance=0.01 / POINTS, newton=whole)
    spread = Errors(said, levels) if whole else RoughErrors(said, levels)
    return Fit(_rows(said, levels, spread), taken, converged, whole)


def _rows(said: Likelihood, levels: list[float], spread: Errors | RoughErrors) -> list[Strength]:
    """``levels`` are the logarithms of the strengths, by number of the bot."""
    if not levels:
        return []
    mean = sum(levels) / len(levels)
    points = [MEAN + POINTS * (level - mean) for level in levels]
    reach = [NORMAL_95 * POINTS * spread.error_of(bot) for bot in range(len(levels))]
    lows = sorted(point - far for point, far in zip(points, reach, strict=True))
    highs = sorted(point + far for point, far in zip(points, reach, strict=True))
    ranking = sorted(range(len(levels)), key=lambda bot: -points[bot])  # of equals the lower id first
    superior: list[float | None] = [
        _normal((levels[bot] - levels[below]) / spread.error_of_difference(bot, below))
        for bot, below in pairwise(ranking)
    ]
    return [
        Strength(
            id=said.ids[bot],
            points=points[bot],
            low=points[bot] - reach[bot],
            high=points[bot] + reach[bot],
            se=POINTS * spread.error_of(bot),
            matches=said.matches[bot],
            superior_to_next=above,
            best_rank=1 + len(lows) - bisect_right(lows, points[bot] + reach[bot]),
            worst_rank=len(highs) - bisect_left(highs, points[bot] - reach[bot]),
        )
        for bot, above in zip(ranking, [*superior, None], strict=True)
    ]


def _normal(deviation: float) -> float:
    """The normal distribution's share below."""
    return (1 + erf(deviation / sqrt(2))) / 2
