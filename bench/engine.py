"""Measure decisions, clones and poker hands per CPU second: the rules alone, without match, log and network.

Each figure is compared with a goal. ``--profile`` prints the functions that took the most time, as shares of the total.
The overhead of cProfile makes calls look more expensive than they are.
"""

import cProfile
import pstats
import sys
from pathlib import Path
from random import Random
from typing import Any, Final

from bench.measure import Benchmark, Json, Work, geometric_mean, per_cpu_second, run, significant
from bench.playouts import draw, play
from referee.games import catalogue
from referee.games.cards import DECK
from referee.games.poker import rank
from referee.games.state import State

SEATS: Final = {
    "pool-nap": (3, 5),
    "prince-albert": (2, 5),
    "prisoners": (2, 10),
    "rummy-royal": (2, 9),
    "saint-poker": (2, 5),
}
# Goals per CPU second. For a game, they apply to the geometric mean over its numbers of seats.
BARE, OBSERVED, CLONES = "decisions", "decisions with observation", "clones"
GOALS: Final = {BARE: 250_000, OBSERVED: 75_000, CLONES: 100_000}
PRISONERS_GOAL: Final = 60_000  # for bare decisions, because a list of legal actions may have 1,058 entries
MEAN_GOALS: Final = {BARE: 400_000, OBSERVED: 150_000}
HAND_GOALS: Final = {5: 2_300_000, 7: 1_800_000}
PROFILED: Final = 20  # number of functions printed


def measure(benchmark: Benchmark) -> Json:
    figures: Json = {name: measure_game(benchmark, game) for name, game in catalogue().items()}
    for label, goal in MEAN_GOALS.items():
        mean = geometric_mean(figures[name][label]["reached"] for name in catalogue())
        figures[f"{label}, geometric mean of the games"] = compare(mean, goal)
    for size, goal in HAND_GOALS.items():
        benchmark.note(f"poker hands of {size} cards")
        dice, count = Random(1), benchmark.size(50_000, 500)
        work = rank_hands([dice.sample(DECK, size) for _ in range(count)])
        work()  # fills caches: every hand is ranked once before the measurement
        figures[f"poker hands of {size} cards"] = compare(per_cpu_second(count, work, benchmark.runs), goal)
        print_profile(benchmark, f"hands of {size} cards", work)
    return figures


def measure_game(benchmark: Benchmark, game: type[State]) -> Json:
    """Measure each kind of work of a game for its numbers of seats, and the means."""
    figures: Json = {}
    reached: dict[str, list[float]] = {label: [] for label in GOALS}
    for seats in SEATS.get(game.name, (game.seats[0], game.seats[-1])):
        benchmark.note(f"{game.name} with {seats} seats")
        for label, (count, work) in works_of(benchmark, game, seats).items():
            work()  # fills caches
            reached[label].append(per_cpu_second(count, work, benchmark.runs))
            print_profile(benchmark, f"{game.name} with {seats} seats, {label}", work)
        table = {label: significant(values[-1]) for label, values in reached.items()}
        figures[f"{seats} seats"] = table | {"events per decision": significant(events_per_decision(game, seats))}
    goals = GOALS | ({BARE: PRISONERS_GOAL} if game.name == "prisoners" else {})
    means = {label: compare(geometric_mean(values), goals[label]) for label, values in reached.items()}
    return figures | means | {"clone us": significant(1e6 / geometric_mean(reached[CLONES]))}


def works_of(benchmark: Benchmark, game: type[State], seats: int) -> dict[str, tuple[int, Work]]:
    """Return each kind of work: how many operations one run has, and the function to run. All play the same matches."""
    decisions, repeats = benchmark.size(15_000, 200), benchmark.size(50, 1)
    positions: list[State] = []
    play(game, seats, 200, Random(1), lambda state, seat: positions.append(state.clone()))

    def play_bare() -> None:
        play(game, seats, decisions, Random(1))

    def play_observed() -> None:
        play(game, seats, decisions, Random(1), lambda state, seat: state.observation(seat))

    def clone_all() -> None:
        for _ in range(repeats):
            for position in positions:
                position.clone()

    return {
        BARE: (decisions, play_bare),
        OBSERVED: (decisions, play_observed),
        CLONES: (repeats * len(positions), clone_all),
    }


def events_per_decision(game: type[State], seats: int, matches: int = 10) -> float:
    """Return the mean number of events per decision, including events of chance and of forced moves."""
    rng = Random(1)
    decisions = events = 0
    for _ in range(matches):
        state = game.start(seats)
        while not state.over:
            request = state.chance()
            if request is not None:
                events += len(state.resolve(draw(request, rng)))
                continue
            seat = state.pending()[0]
            events += len(state.apply(seat, rng.choice(state.legal(seat))))
            decisions += 1
    return events / decisions


def rank_hands(hands: list[list[str]]) -> Work:
    def work() -> None:
        for hand in hands:
            rank(hand)

    return work


def compare(reached: float, goal: float) -> Json:
    return {"reached": significant(reached), "of the goal": significant(reached / goal)}


def print_profile(benchmark: Benchmark, title: str, work: Work) -> None:
    """With ``--profile``, print the functions with the largest shares of time, not counting the functions they call."""
    if not benchmark.options.profile:
        return
    profiler = cProfile.Profile()
    profiler.runcall(work)
    # Each value is (calls, primitive calls, own seconds, seconds, callers), keyed by (file, line, function).
    stats: dict[tuple[str, int, str], tuple[Any, ...]] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]  # not in the stubs
    total = sum(entry[2] for entry in stats.values())
    print(f"{title}:", file=sys.stderr)
    for (file, _, function), entry in sorted(stats.items(), key=lambda item: -item[1][2])[:PROFILED]:
        place = function if file == "~" else f"{Path(file).stem}.{function}"  # "~" marks functions written in C
        print(f"  {place} {entry[2] / total:.0%}", file=sys.stderr)


if __name__ == "__main__":
    profile = {"action": "store_true", "help": "Print profiles to standard error."}
    run("engine", "decisions, clones and poker hands per CPU second", measure, profile=profile)
