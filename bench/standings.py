"""CPU ms of what is read from an event's results, as events grow: eight stages, at tables of two and of four."""

from collections.abc import Callable
from fractions import Fraction
from random import Random
from statistics import NormalDist, median

from bench.measure import Benchmark, Json, cpu_seconds, rounded
from referee.standings import (
    TIE_BREAKS,
    MatchOutcome,
    ScoredBye,
    bootstrap,
    compute_standings,
    count_opponents,
    crosstable,
    luck_adjusted,
)

STAGES = 8
TABLES_A_GROUP = 100
SAMPLES = 200
DRAW = bytes(32)


def main() -> None:
    benchmark = Benchmark.from_command_line(
        "standings", "CPU ms of an event's table and what goes with it, by entrants"
    )
    sizes = (20, 40) if benchmark.quick else (100, 1_000, 10_000)
    figures: Json = {}
    for seats in (2, 4):
        for entrants in sizes:
            benchmark.note(f"{entrants} entrants at tables of {seats}")
            figures[f"{entrants} entrants, tables of {seats}"] = measured(benchmark, entrants, seats)
    few, many = benchmark.size(200, 10), benchmark.size(20_000, 50)
    alone = played(Random(2), [(0, f"own {number}", Random(number).sample(range(few), 2)) for number in range(many)])
    work = timed(lambda: bootstrap(range(few), alone, draw_key=DRAW, samples=SAMPLES), 1)
    figures[f"{few} entrants, {many} deal groups, error bars of {SAMPLES} samples, ms"] = work
    for groups in (3, 5, 8, 20):
        figures[f"share of error bars over {groups} deal groups that hold the truth"] = coverage(benchmark, groups)
    benchmark.report(figures)


def measured(benchmark: Benchmark, entrants: int, seats: int) -> Json:
    everybody = range(entrants)
    results = swiss(entrants, seats)
    byes = [ScoredBye(0, Fraction(1))]
    parts: dict[str, Callable[[], object]] = {
        "table": lambda: compute_standings(everybody, results, byes, tie_breaks=TIE_BREAKS["swiss"]),
        "crosstable": lambda: crosstable(everybody, results),
        "seats and opponents": lambda: count_opponents(everybody, results),
        f"error bars of {SAMPLES} samples": lambda: bootstrap(everybody, results, draw_key=DRAW, samples=SAMPLES),
        "luck-adjusted scores": lambda: luck_adjusted(everybody, results),
    }
    runs = benchmark.runs if entrants < 10_000 else 1
    return {f"{name}, ms": timed(work, runs) for name, work in parts.items()}


def coverage(benchmark: Benchmark, groups: int) -> float:
    """Of bots that win 63.8 % of their matches, each against one opponent."""
    pairs = benchmark.size(400, 10)
    dice = Random(groups)
    results = [
        MatchOutcome((pair, -pair), [1, 2] if dice.gauss(0.5, 1) > dice.gauss(0, 1) else [2, 1], [0, 0], f"{group}")
        for group in range(groups)
        for pair in range(1, pairs + 1)
    ]
    truth = NormalDist().cdf(0.5 / 2**0.5)
    bars = bootstrap(range(1, pairs + 1), results, draw_key=DRAW).values()
    return rounded(sum((bar.low or 0) <= truth <= (bar.high or 0) for bar in bars) / pairs)


def timed(work: Callable[[], object], runs: int) -> float:
    return rounded(1000 * median(cpu_seconds(work) for _ in range(runs)))


def swiss(entrants: int, seats: int) -> list[MatchOutcome]:
    """As many matches as a Swiss has, its common deals shared by the tables of a section; who meets whom by lot."""
    dice = Random(entrants)
    tables: list[tuple[int, str, list[int]]] = []
    for stage in range(STAGES):
        order = dice.sample(range(entrants), entrants)
        for number in range(entrants // seats):
            seated = order[number * seats : number * seats + seats]
            tables.append((stage, f"{stage}, {number // TABLES_A_GROUP}", seated))
    return played(dice, tables)


def played(dice: Random, tables: list[tuple[int, str, list[int]]]) -> list[MatchOutcome]:
    """One match in ten is shared by two neighbours in the ranking."""
    results: list[MatchOutcome] = []
    for stage, group, seated in tables:
        placements = dice.sample(range(1, len(seated) + 1), len(seated))
        if dice.random() < 0.1:
            placements = [1 if placed == 2 else placed for placed in placements]
        results.append(MatchOutcome(seated, placements, [len(seated) - placed for placed in placements], group, stage))
    return results


if __name__ == "__main__":
    main()
