"""Measure four-seat rating updates per CPU second in memory, and the CPU time of the batch fit.

Nothing is stored. The fit is measured for several numbers of bots and results, to show how its cost grows.
"""

from functools import partial
from random import Random
from typing import Final

from bench.measure import Benchmark, Json, cpu_ms, per_cpu_second, run, significant
from referee.ratings.elo import START
from referee.ratings.exchange import Seat, exchange
from referee.ratings.strengths import RankedResult, fit

SEATS: Final = 4
BOTS: Final = 100
FITS: Final = ((100, 1_000), (100, 10_000), (400, 10_000), (1_000, 10_000), (100, 100_000))  # bots, results


def measure(benchmark: Benchmark) -> Json:
    matches = benchmark.size(20_000, 200)
    dice = Random(1)
    placements = [[1 + dice.randrange(SEATS) for _ in range(SEATS)] for _ in range(matches)]
    tables = [dice.sample(range(BOTS), SEATS) for _ in range(matches)]
    updates = compute_ladder(tables, placements)

    def compute_changes() -> None:
        for update in updates:
            exchange(update, {})

    rated = per_cpu_second(matches, lambda: compute_ladder(tables, placements), benchmark.runs)
    changes = per_cpu_second(matches, compute_changes, benchmark.runs)
    figures: Json = {
        "four-seat matches rated per CPU second": significant(rated),
        "the changes alone": significant(changes),
    }
    for bots, results in FITS[: benchmark.size(len(FITS), 1)]:
        benchmark.note(f"fitting {bots:,} bots to {results:,} results")
        figures[f"fit of {bots:,} bots to {results:,} results, CPU ms"] = cpu_ms(
            partial(fit, draw_results(bots, results))
        )
    return figures


def compute_ladder(tables: list[list[int]], placements: list[list[int]]) -> list[list[Seat]]:
    """Rate matches one after the other. Return the input of each update."""
    values, information = [START] * BOTS, [0] * BOTS
    updates = []
    for seated, placed in zip(tables, placements, strict=True):
        update = [
            Seat(values[bot], information[bot], str(bot), place) for bot, place in zip(seated, placed, strict=True)
        ]
        updates.append(update)
        for bot, change in zip(seated, exchange(update, {}), strict=True):
            values[bot] += change.rating
            information[bot] += change.information
    return updates


def draw_results(bots: int, count: int) -> list[RankedResult]:
    """Return results by the model of Plackett and Luce. The strengths have a standard deviation of 200 points."""
    dice = Random(2)
    rates = [10 ** dice.gauss(0, 0.5) for _ in range(bots)]
    results: list[RankedResult] = []
    for _ in range(count):
        table = sorted(dice.sample(range(bots), SEATS), key=lambda bot: dice.expovariate(rates[bot]))
        results.append(RankedResult([str(bot) for bot in table], range(SEATS)))
    return results


if __name__ == "__main__":
    run("ratings", "four-seat rating updates per CPU second, and the batch fit", measure)
