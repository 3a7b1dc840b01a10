"""Four-seat rating updates a CPU second: a ladder folded from results in memory, storing not included."""

from random import Random

from bench.measure import Benchmark, per_cpu_second, rounded
from referee.ratings import START, elo_changes

SEATS = 4
BOTS = 100


def main() -> None:
    benchmark = Benchmark.from_command_line("ratings", "four-seat rating updates a CPU second")
    dice = Random(1)
    matches = benchmark.size(20_000, 200)
    placements = [[1 + dice.randrange(SEATS) for _ in range(SEATS)] for _ in range(matches)]
    tables = [dice.sample(range(BOTS), SEATS) for _ in range(matches)]

    def fold() -> None:
        values, games = [START] * BOTS, [0] * BOTS
        for seated, placed in zip(tables, placements, strict=True):
            changes = elo_changes([values[bot] for bot in seated], [games[bot] for bot in seated], placed)
            for bot, change in zip(seated, changes, strict=True):
                values[bot] += change
                games[bot] += 1

    benchmark.report({"four-seat matches rated per CPU second": rounded(per_cpu_second(matches, fold, benchmark.runs))})


if __name__ == "__main__":
    main()
