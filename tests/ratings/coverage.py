"""Simulated seasons of bots of known strength, rated by the service's own code: how often the ± of a rating holds.

``python -m tests.ratings.coverage [--bots 2000] [FIELD…]`` prints a row for each field, number of seats and length of a
season. Bots of one season share its errors, so intervals take seasons, not bots, as independent.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Final

from referee.house.calibration import load_ratings
from referee.ladders.rating_errors import compute_errors
from referee.ladders.rating_replay import RatedSeats, RatingReplay
from referee.ladders.strengths import LadderResults, ResultColumns
from referee.ratings.elo import MICRO
from referee.ratings.strengths import fit
from tests.ratings.truth import draw_placements

SPREAD, MEAN = 200.0, 1_500.0  # of the strengths, in points
LENGTHS: Final = (30, 100, 300)  # matches of each bot
DAILY: Final = 48
GAME: Final = "pool-nap"  # whose house players have the calibration
REACH: Final = 400.0  # points within which house players are chosen
NOISE: Final = 40.0  # points: how far the choice of near opponents is from the order of the ratings
FIELDS: Final = {"mixed 20": 20, "mixed 200": 200, "near": 20, "house": 20}  # bots
BOUNDS: Final = (0.93, 0.97)
SURE: Final = 3.29  # standard errors on each side of a 99.9 % interval


@dataclass
class Season:
    """A ladder in progress. ``anchors`` has the strengths and the calibrated ratings of house players."""

    dice: Random
    truth: dict[str, float]
    anchors: dict[str, tuple[float, int]]
    versions: dict[str, str] = field(default_factory=dict)
    replay: RatingReplay = field(default_factory=RatingReplay)
    results: list[ResultColumns] = field(default_factory=list)

    def rating(self, bot: str) -> float:
        known = self.replay.ratings.get(bot)
        return MEAN if known is None else known.value / MICRO

    def play(self, table: Sequence[str], day: int) -> None:
        strengths = [self.anchors[bot][0] if bot in self.anchors else self.truth[bot] for bot in table]
        anchors = [self.anchors[bot][1] * MICRO if bot in self.anchors else None for bot in table]
        placements = draw_placements(strengths, self.dice)
        is_bot = [anchor is None for anchor in anchors]
        owners = [bot if rated else None for bot, rated in zip(table, is_bot, strict=True)]
        self.replay.begin_day(day)
        versions = [self.versions.get(bot) for bot in table]
        self.replay.apply_result(RatedSeats(table, placements, is_bot, owners, versions, anchors))
        self.results.append(ResultColumns(table, placements, is_bot, anchors, versions))


@dataclass(frozen=True, slots=True)
class Cell:
    """Hold what seasons found: the share of bots within their ±, and mean squared errors of rating and fit."""

    covered: list[float]
    rating: list[float]
    fitted: list[float]

    def share(self) -> float:
        """Return the share of bots within their ±."""
        return fmean(self.covered)

    def interval(self) -> tuple[float, float]:
        """Return the 99.9 % interval of the share."""
        reach = SURE * stdev(self.covered) / sqrt(len(self.covered))
        return self.share() - reach, self.share() + reach

    def ratio(self) -> float:
        """Return the error of the ratings as a multiple of that of the best fit on the same results."""
        return sqrt(fmean(self.rating) / fmean(self.fitted))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ratings.coverage", description=__doc__)
    parser.add_argument("fields", nargs="*", default=[*FIELDS], help=", ".join(FIELDS))
    parser.add_argument("--bots", type=int, default=2_000, help="Bots of a cell, at least.")
    options = parser.parse_args()
    print("| field | seats | matches | within ± | 99.9 % | ± | error of the rating | ÷ best fit |")
    print("| --- | --: | --: | --: | --- | --: | --: | --: |")
    for name in options.fields:
        for seats in (2, 4):
            for length, (cell, width) in cells(name, seats, max(2, -(-options.bots // FIELDS[name]))).items():
                low, high = cell.interval()
                shown = f"{cell.share():.1%} | {low:.1%} to {high:.1%} | {width:.0f}"
                errors = f"{sqrt(fmean(cell.rating)):.0f} | {cell.ratio():.2f}"
                print(f"| {name} | {seats} | {length} | {shown} | {errors} |", flush=True)
    return 0


def cells(name: str, seats: int, seasons: int, lengths: Sequence[int] = LENGTHS) -> dict[int, tuple[Cell, float]]:
    """Return what seasons of a field found after each length, with the mean ±, keyed by length."""
    found = {length: Cell([], [], []) for length in lengths}
    widths: dict[int, list[float]] = {length: [] for length in lengths}
    for number in range(seasons):
        for length, bots in season(name, seats, lengths, Random(f"{name} {seats} {number}")):
            found[length].covered.append(fmean(abs(error) <= width for error, _, width in bots))
            found[length].rating.append(fmean(error**2 for error, _, _ in bots))
            found[length].fitted.append(fmean(error**2 for _, error, _ in bots))
            widths[length].append(fmean(width for *_, width in bots))
    return {length: (cell, fmean(widths[length])) for length, cell in found.items()}


Bots = list[tuple[float, float, float]]  # error of the rating, error of the fit, ±; in points


def season(name: str, seats: int, lengths: Sequence[int], dice: Random) -> Iterator[tuple[int, Bots]]:
    """Play a season, and yield its bots after each length."""
    truth = {f"bot-{number:03}": dice.gauss(MEAN, SPREAD) for number in range(FIELDS[name])}
    levels = [found for found in load_ratings() if found.game == GAME]
    anchors = {f"house:{one.level}": (dice.gauss(one.rating, one.error), one.rating) for one in levels}
    played = Season(dice, truth, anchors if name == "house" else {})
    for match in range(1, max(lengths) + 1):
        for table in tables(played, name, seats):
            played.play(table, 1 + match // DAILY)
        if match in lengths:
            yield match, bots_of(played, {float(one.rating): float(one.error) for one in levels})


def lag_of_a_better_version(seats: int, dice: Random, *, gain: float = 200.0, matches: int = 60) -> float:
    """Return by how many points the rating of a bot is too low some matches after a version that is better by ``gain``.

    All bots of a mixed field have played 100 matches before.
    """
    truth = {f"bot-{number:03}": dice.gauss(MEAN, SPREAD) for number in range(FIELDS["mixed 20"])}
    played, subject = Season(dice, truth, {}, dict.fromkeys(truth, "1")), "bot-000"
    for match in range(100 + matches):
        if match == 100:
            truth[subject] += gain
            played.versions[subject] = "2"
        for table in tables(played, "mixed 20", seats):
            played.play(table, 1 + match // DAILY)
    others = [bot for bot in truth if bot != subject]
    shift = fmean(truth[bot] - played.rating(bot) for bot in others)
    return truth[subject] - played.rating(subject) - shift


def tables(played: Season, name: str, seats: int) -> Iterable[list[str]]:
    """Yield tables at which every bot plays once, but for those that are left over."""
    bots = list(played.truth)
    played.dice.shuffle(bots)
    if name == "house":
        for bot in bots:
            distances = {one: abs(played.rating(bot) - rating) for one, (_, rating) in played.anchors.items()}
            near = [one for one, distance in distances.items() if distance <= max(REACH, min(distances.values()))]
            yield [bot, *played.dice.choices(near, k=seats - 1)]
        return
    if name == "near":
        bots.sort(key=lambda bot: played.rating(bot) + played.dice.gauss(0, NOISE))
        first = played.dice.randrange(seats)
        bots = [*bots[first:], *bots[:first]]
    for start in range(0, len(bots) - seats + 1, seats):
        yield played.dice.sample(bots[start : start + seats], seats)


def bots_of(played: Season, errors: dict[float, float]) -> Bots:
    """Return the bots. Without anchors, only differences to the mean of the field have a meaning."""
    results = [result.for_fit() for result in played.results[::-1]]
    found = LadderResults(0, results, 0, [[None] * len(result.bots) for result in results])
    ratings = {bot: played.rating(bot) for bot in played.truth}
    widths = compute_errors(found, ratings, errors)
    fitted = {row.id: row.points for row in fit(results).rows}
    truth = played.truth
    if not played.anchors:
        ratings, fitted, truth = map(centred, (ratings, fitted, truth))
    return [(ratings[bot] - truth[bot], fitted[bot] - truth[bot], widths[bot]) for bot in truth]


def centred(points: dict[str, float]) -> dict[str, float]:
    mean = fmean(points.values())
    return {bot: value - mean for bot, value in points.items()}


if __name__ == "__main__":
    raise SystemExit(main())
