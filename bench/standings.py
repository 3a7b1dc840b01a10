"""Measure the CPU time of standings, crosstables and error bars, for tournaments of eight rounds."""

from fractions import Fraction
from random import Random
from statistics import NormalDist
from typing import Final

from bench.measure import Benchmark, Json, Work, cpu_ms, run, significant
from referee.standings import (
    TIE_BREAKS,
    MatchOutcome,
    ScoredBye,
    bootstrap,
    compute_standings,
)
from referee_extras.analysis.luck import luck_adjusted
from referee_extras.analysis.meetings import crosstable

ROUNDS: Final = 8
TABLES_PER_GROUP: Final = 100
SAMPLES: Final = 200
DRAW_KEY: Final = bytes(32)


def measure(benchmark: Benchmark) -> Json:
    figures: Json = {}
    for seats in (2, 4):
        for size in (20, 40) if benchmark.quick else (100, 1_000, 10_000):
            benchmark.note(f"{size} entrants at tables of {seats}")
            figures[f"{size} entrants, tables of {seats}"] = measure_tournament(benchmark, size, seats)
    figures |= measure_single_deals(benchmark.size(200, 10), benchmark.size(20_000, 50))
    for groups in (3, 5, 8, 20):
        figures[f"share of error bars over {groups} deal groups that contain the truth"] = coverage(benchmark, groups)
    return figures


def measure_tournament(benchmark: Benchmark, size: int, seats: int) -> Json:
    entrants, results = range(size), play_swiss(size, seats)
    byes = [ScoredBye(0, Fraction(1))]
    works: dict[str, Work] = {
        "standings": lambda: compute_standings(entrants, results, byes, tie_breaks=TIE_BREAKS["swiss"]),
        "crosstable": lambda: crosstable(entrants, results),
        "error bars": lambda: bootstrap(entrants, results, draw_key=DRAW_KEY, samples=SAMPLES),
        "luck-adjusted scores": lambda: luck_adjusted(entrants, results),
    }
    runs = benchmark.runs if size < 10_000 else 1
    return {f"{name}, ms": cpu_ms(work, runs) for name, work in works.items()}


def measure_single_deals(entrants: int, matches: int) -> Json:
    """Measure error bars of a tournament in which each match has its own deal group."""
    dice = Random(2)
    results = [play_table(dice, 0, f"own {number}", dice.sample(range(entrants), 2)) for number in range(matches)]
    time_ms = cpu_ms(lambda: bootstrap(range(entrants), results, draw_key=DRAW_KEY, samples=SAMPLES))
    return {f"{entrants} entrants, {matches} deal groups, error bars, ms": time_ms}


def coverage(benchmark: Benchmark, groups: int) -> float:
    """Return the share of error bars that contain the true score. The bots win 63.8 % of their matches."""
    pairs = benchmark.size(400, 10)
    dice = Random(groups)
    results = [
        MatchOutcome((pair, -pair), [1, 2] if dice.gauss(0.5, 1) > dice.gauss(0, 1) else [2, 1], [0, 0], f"{group}")
        for group in range(groups)
        for pair in range(1, pairs + 1)
    ]
    truth = NormalDist().cdf(0.5 / 2**0.5)
    bars = bootstrap(range(1, pairs + 1), results, draw_key=DRAW_KEY).values()
    return significant(sum((bar.low or 0) <= truth <= (bar.high or 0) for bar in bars) / pairs)


def play_swiss(entrants: int, seats: int) -> list[MatchOutcome]:
    """Return as many matches as a Swiss tournament has, at random tables. Up to 100 tables of a round share a deal."""
    dice = Random(entrants)
    results = []
    for number in range(ROUNDS):
        order = dice.sample(range(entrants), entrants)
        for index in range(entrants // seats):
            seated = order[index * seats : (index + 1) * seats]
            results.append(play_table(dice, number, f"{number}, {index // TABLES_PER_GROUP}", seated))
    return results


def play_table(dice: Random, round_no: int, group: str, seated: list[int]) -> MatchOutcome:
    """Return a match with random placements. In one of ten matches, the two best seats tie."""
    placements = dice.sample(range(1, len(seated) + 1), len(seated))
    if dice.random() < 0.1:
        placements = [1 if placement == 2 else placement for placement in placements]
    returns = [len(seated) - placement for placement in placements]
    return MatchOutcome(seated, placements, returns, group, round_no)


if __name__ == "__main__":
    run("standings", "CPU time of standings, crosstables and error bars", measure)
