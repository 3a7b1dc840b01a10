"""Four-seat rating updates a CPU second, a ladder folded from results in memory, and the batch fit beside it.

Storing is not included. The fit is measured at several numbers of bots and results, to show how it grows.
"""

from collections.abc import Callable
from functools import partial
from random import Random

from bench.measure import Benchmark, Json, cpu_seconds, per_cpu_second, rounded
from referee.ratings.elo import START, elo_changes
from referee.ratings.strengths import Result, fit

SEATS = 4
BOTS = 100
FITS = ((100, 1_000), (100, 10_000), (400, 10_000), (1_000, 10_000), (100, 100_000))  # bots, results


def main() -> None:
    benchmark = Benchmark.from_command_line("ratings", "four-seat rating updates a CPU second, and the batch fit")
    matches = benchmark.size(20_000, 200)
    dice = Random(1)
    placements = [[1 + dice.randrange(SEATS) for _ in range(SEATS)] for _ in range(matches)]
    tables = [dice.sample(range(BOTS), SEATS) for _ in range(matches)]

    def per_second(work: Callable[[], object]) -> float:
        return rounded(per_cpu_second(matches, work, benchmark.runs))

    figures: Json = {
        "four-seat matches rated per CPU second": per_second(lambda: fold(tables, placements)),
        "the same, the changes alone": per_second(changes_alone(tables, placements)),
        "fit, CPU seconds": {},
    }
    for bots, count in FITS[: benchmark.size(len(FITS), 1)]:
        benchmark.note(f"fitting {bots:,} bots to {count:,} results")
        results = drawn(bots, count)
        figures["fit, CPU seconds"][f"{bots:,} bots, {count:,} results"] = rounded(cpu_seconds(partial(fit, results)))
    benchmark.report(figures)


def fold(tables: list[list[int]], placements: list[list[int]]) -> None:
    values, games = [START] * BOTS, [0] * BOTS
    for seated, placed in zip(tables, placements, strict=True):
        changes = elo_changes([values[bot] for bot in seated], [games[bot] for bot in seated], placed)
        for bot, change in zip(seated, changes, strict=True):
            values[bot] += change
            games[bot] += 1


def changes_alone(tables: list[list[int]], placements: list[list[int]]) -> Callable[[], object]:
    """Of the same matches, with the ratings each found."""
    values, games = [START] * BOTS, [0] * BOTS
    found = []
    for seated, placed in zip(tables, placements, strict=True):
        found.append(([values[bot] for bot in seated], [games[bot] for bot in seated], placed))
        for bot, change in zip(seated, elo_changes(*found[-1]), strict=True):
            values[bot] += change
            games[bot] += 1

    def work() -> None:
        for ratings, played, placed in found:
            elo_changes(ratings, played, placed)

    return work


def drawn(bots: int, count: int) -> list[Result]:
    """Four-seat results of bots whose strengths lie 200 points about their mean, by Plackett and Luce's model."""
    dice = Random(2)
    rates = [10 ** dice.gauss(0, 0.5) for _ in range(bots)]
    results: list[Result] = []
    for _ in range(count):
        table = sorted(dice.sample(range(bots), SEATS), key=lambda bot: dice.expovariate(rates[bot]))
        results.append(([str(bot) for bot in table], range(SEATS), None))
    return results


if __name__ == "__main__":
    main()
