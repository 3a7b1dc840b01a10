"""Simulated seasons of bots of known strength: accuracy of the ladder's order and of the fit's intervals.

``python -m tests.ratings.simulated_ladder`` prints a table; a short form of it is among the tests. With ``--days`` it
simulates an official ladder instead, as ``official_ladder`` does.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from statistics import fmean

from referee.ratings.elo import START
from referee.ratings.exchange import Seat, exchange, stake
from referee.ratings.strengths import Fit, RankedResult, fit
from tests.ratings import official_ladder
from tests.ratings.truth import draw_placements, kendall

SPREAD = 200.0  # standard deviation of the true strengths, in points
CANDIDATES = 4  # rivals are drawn from this many times the number of seats, nearest in rating


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


def season(bots: int, matches: int, seats: int, seed: int, *, close: bool = False, shared: float = 0.0) -> Season:
    """Return results drawn from the model, at random tables or (``close``) among bots with similar ladder ratings.

    ``shared`` is the probability that a placement is tied with the one above.
    """
    dice = Random(seed)
    drawn = [dice.gauss(0, SPREAD) for _ in range(bots)]
    truth = {f"bot {number:04}": points - fmean(drawn) for number, points in enumerate(drawn)}
    ladder = Ladder()
    results: list[RankedResult] = []
    for _ in range(matches):
        table = near(list(truth), ladder, seats, dice) if close else dice.sample(list(truth), seats)
        results.append(RankedResult(table, draw_placements([truth[bot] for bot in table], dice, shared)))
        if close:
            ladder.rate(results[-1])
    return Season(truth, results)


class Ladder:
    """Ladder ratings, updated by results in order."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.games: dict[str, int] = {}

    def rate(self, result: RankedResult) -> None:
        bots, placements, *_ = result
        seats = [
            Seat(self.values.get(bot, START), stake(self.games.get(bot, 0)), bot, place)
            for bot, place in zip(bots, placements, strict=True)
        ]
        for seat, change in zip(seats, exchange(seats, {}), strict=True):
            self.values[seat.owner] = seat.rating + change
            self.games[seat.owner] = self.games.get(seat.owner, 0) + 1


def folded(results: Sequence[RankedResult]) -> dict[str, int]:
    """Return the ladder's ratings after these results."""
    ladder = Ladder()
    for result in results:
        ladder.rate(result)
    return ladder.values


def near(bots: list[str], ladder: Ladder, seats: int, dice: Random) -> list[str]:
    """Return a random bot and rivals of similar rating."""
    first = dice.choice(bots)
    own = ladder.values.get(first, START)
    nearest = sorted(bots, key=lambda bot: (abs(ladder.values.get(bot, START) - own), dice.random()))
    rivals = [bot for bot in nearest[: CANDIDATES * seats] if bot != first]
    return [first, *dice.sample(rivals, seats - 1)]


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


CAMPAIGN = (  # bots, matches, seats, seasons, near, shared
    (100, 500, 4, 10, False, 0.0),
    (100, 2_500, 4, 10, False, 0.0),
    (100, 10_000, 4, 3, False, 0.0),
    (100, 2_500, 2, 10, False, 0.0),
    (100, 2_500, 4, 10, True, 0.0),
    (100, 2_500, 4, 10, False, 0.1),
    (30, 300, 10, 10, False, 0.0),
    (600, 6_000, 4, 2, False, 0.0),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ratings.simulated_ladder", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first season of each line")
    parser.add_argument("--days", type=int, help="of an official ladder, which is simulated instead of the seasons")
    parser.add_argument("--bots", type=int, default=200, help="on the official ladder")
    parser.add_argument("--mean", type=float, default=1500.0, help="mean strength of these bots, in points")
    options = parser.parse_args()
    if options.days:
        official_ladder.main(official_ladder.Terms(options.bots, options.days, options.mean, options.seed))
        return 0
    seed = options.seed
    print("| bots | matches | seats | tables | places shared | seasons | tau, ladder | tau, fit | covered | superior |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for bots, matches, seats, seasons, close, shared in CAMPAIGN:
        many = [
            findings(season(bots, matches, seats, seed + number, close=close, shared=shared))
            for number in range(seasons)
        ]
        mean = mean_of(many)
        print(
            f"| {bots} | {matches:,} | {seats} | {'near' if close else 'random'} | {shared:.0%} | {seasons} "
            f"| {mean.tau_elo:.3f} | {mean.tau_fit:.3f} | {mean.covered:.1%} "
            f"| {mean.superior:.1%} of {mean.promised:.1%} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
