"""Simulated seasons of bots of known strength: accuracy of the ladder's order and of the fit's intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from statistics import fmean

from referee.ladders.rating_replay import RatedSeats, RatingReplay
from referee.ratings.strengths import Fit, RankedResult, fit
from tests.ratings.truth import draw_placements, kendall

SPREAD = 200.0  # standard deviation of the true strengths, in points


@dataclass(frozen=True, slots=True)
class Season:
    """Strengths in points around a mean of 0, and results in order."""

    truth: dict[str, float]
    results: list[RankedResult]


@dataclass(frozen=True, slots=True)
class Findings:
    """Kendall's tau of two rankings against the truth, and how often the claims of the fit hold.

    ``covered``: the share of bots whose strength lies in its 95 % interval. ``superior`` and ``promised``: the share
    of neighbours in the ranking that are in the right order, and the share that the likelihoods of superiority claim.
    """

    tau_elo: float
    tau_fit: float
    covered: float
    superior: float
    promised: float


def season(bots: int, matches: int, seats: int, seed: int, *, shared: float = 0.0) -> Season:
    """Return results drawn from the model, at random tables.

    ``shared`` is the probability that a placement is tied with the one above.
    """
    dice = Random(seed)
    drawn = [dice.gauss(0, SPREAD) for _ in range(bots)]
    truth = {f"bot {number:04}": points - fmean(drawn) for number, points in enumerate(drawn)}
    results: list[RankedResult] = []
    for _ in range(matches):
        table = dice.sample(list(truth), seats)
        results.append(RankedResult(table, draw_placements([truth[bot] for bot in table], dice, shared)))
    return Season(truth, results)


def folded(results: Sequence[RankedResult]) -> dict[str, int]:
    """Return the ladder's ratings after these results, each on a day of its own, so that no cap limits them."""
    replay = RatingReplay()
    for day, (bots, placements, *_) in enumerate(results):
        replay.begin_day(day)
        every = [None] * len(bots)
        replay.apply_result(RatedSeats(bots, placements, [True] * len(bots), bots, every, every))
    return {bot: state.value for bot, state in replay.ratings.items()}


def findings(played: Season) -> Findings:
    values = folded(played.results)
    found = fit(played.results)
    assert found.converged
    points = {row.id: row.points for row in found.rows}
    right = [played.truth[one.id] > played.truth[other.id] for one, other in pairwise(found.rows)]
    return Findings(
        kendall(played.truth, values),
        kendall(played.truth, points),
        covered(played, found),
        fmean(right),
        fmean(row.superior_to_next for row in found.rows if row.superior_to_next is not None),
    )


def covered(played: Season, found: Fit) -> float:
    mean = fmean(row.points for row in found.rows)
    return fmean(row.low <= mean + played.truth[row.id] <= row.high for row in found.rows)


def mean_of(many: Sequence[Findings]) -> Findings:
    return Findings(*(fmean(getattr(one, name) for one in many) for name in Findings.__slots__))
