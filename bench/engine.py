"""The engine alone: decisions and clones a CPU second, poker hands ranked; no match, no log, no network.

Each figure stands beside its goal. Where one is missed, the functions that took most of the time are named; cProfile
counts it, and makes calls look dearer than they are. ``--profile`` prints more of them.
"""

import cProfile
import math
import pstats
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from bench.measure import Benchmark, Json, per_cpu_second, rounded
from bench.playouts import outcome, play, play_watched
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

# Things a CPU second; a game's are the geometric mean over its tables.
BARE, BARE_PRISONERS, BARE_MEAN = 250_000, 60_000, 400_000
OBSERVED, OBSERVED_MEAN = 75_000, 150_000
CLONE_US: Final = 10
HANDS: Final = {5: 2_300_000, 7: 1_800_000}

NAMED: Final = 5  # functions of a profile in the figures; ``--profile`` prints four times as many


def main() -> None:
    benchmark = Benchmark.from_command_line(
        "engine",
        "decisions, clones and poker hands a CPU second",
        profile={"action": "store_true", "help": "profiles of what missed its goal, on standard error"},
    )
    figures: Json = {name: of_game(benchmark, game) for name, game in catalogue().items()}
    for label, goal in (("decisions per CPU second", BARE_MEAN), ("with observation", OBSERVED_MEAN)):
        mean = math.prod(figures[name][label] for name in catalogue()) ** (1 / len(catalogue()))
        figures[f"{label}, geometric mean of the games"] = {
            "reached": rounded(mean),
            "of the goal": rounded(mean / goal),
        }
    benchmark.note("poker hands")
    for size in HANDS:
        figures[f"poker hands of {size} cards per CPU second"] = of_hands(benchmark, size)
    benchmark.report(figures)


def of_game(benchmark: Benchmark, game: type[State]) -> Json:
    """Uniform choice among the legal actions; the same with the acting seat's observation; copies of positions."""
    decisions = benchmark.size(15_000, 200)
    reached: dict[str, list[float]] = {"bare": [], "observed": [], "clone": []}
    figures: Json = {}
    tables = SEATS.get(game.name, (game.seats[0], game.seats[-1]))
    for seats in tables:
        benchmark.note(f"{game.name} with {seats} seats")
        bare, observed = playouts(game, seats, decisions)
        bare()  # tables that are filled at first use
        reached["bare"].append(per_cpu_second(decisions, bare, benchmark.runs))
        reached["observed"].append(per_cpu_second(decisions, observed, benchmark.runs))
        reached["clone"].append(clone_us(benchmark, game, seats))
        figures[f"{seats} seats"] = {name: rounded(values[-1]) for name, values in reached.items()}
        figures[f"{seats} seats"]["events a decision"] = rounded(events_each(game, seats))
    mean = {name: math.prod(values) ** (1 / len(values)) for name, values in reached.items()}
    shares = {
        "decisions per CPU second": mean["bare"] / (BARE_PRISONERS if game.name == "prisoners" else BARE),
        "with observation": mean["observed"] / OBSERVED,
        "clone_us": CLONE_US / mean["clone"],
    }
    bare, observed = playouts(game, tables[-1], decisions)
    works = {"decisions per CPU second": bare, "with observation": observed}
    for (label, share), value in zip(shares.items(), mean.values(), strict=True):
        figures |= {label: rounded(value), f"{label}, of the goal": rounded(share)}
        if share < 1 and label in works:
            figures[f"{label}, mostly in"] = profile(benchmark, f"{game.name}, {label}", works[label])
    return figures


def playouts(game: type[State], seats: int, decisions: int) -> tuple[Callable[[], None], Callable[[], None]]:
    """So many decisions without and with the acting seat's observation, of the same matches each time."""

    def look(state: State, seat: int) -> object:
        return state.observation(seat)

    def bare() -> None:
        play(game, seats, decisions, Random(1))

    def observed() -> None:
        play_watched(game, seats, decisions, Random(1), look)

    return bare, observed


def clone_us(benchmark: Benchmark, game: type[State], seats: int) -> float:
    """A copy of a position, over the positions of a random match."""
    positions: list[State] = []
    play_watched(game, seats, 200, Random(1), lambda state, seat: positions.append(state.clone()))
    rounds = benchmark.size(50, 1)

    def copies() -> None:
        for _ in range(rounds):
            for position in positions:
                position.clone()

    return 1e6 / per_cpu_second(rounds * len(positions), copies, benchmark.runs)


def events_each(game: type[State], seats: int, matches: int = 10) -> float:
    """How many events a decision brings, those of chance and of what is no choice included."""
    rng = Random(1)
    decisions = events = 0
    for _ in range(matches):
        state = game.start(seats)
        while not state.over:
            asked = state.chance()
            if asked is not None:
                events += len(state.resolve(outcome(asked, rng)))
                continue
            seat = state.pending()[0]
            events += len(state.apply(seat, rng.choice(state.legal(seat))))
            decisions += 1
    return events / decisions


def of_hands(benchmark: Benchmark, size: int) -> Json:
    """Hands of so many cards ranked from their names; every hand is met once before the clock starts."""
    rank_all = partial(rank_each, hands_of(size, benchmark.size(50_000, 500)))
    rank_all()
    reached = per_cpu_second(benchmark.size(50_000, 500), rank_all, benchmark.runs)
    figures: Json = {"reached": rounded(reached), "of the goal": rounded(reached / HANDS[size])}
    if reached < HANDS[size]:
        figures["mostly in"] = profile(benchmark, f"hands of {size} cards", rank_all)
    return figures


def hands_of(size: int, count: int) -> list[list[str]]:
    rng = Random(1)
    return [rng.sample(DECK, size) for _ in range(count)]


def rank_each(hands: list[list[str]]) -> None:
    for hand in hands:
        rank(hand)


def profile(benchmark: Benchmark, title: str, work: Callable[[], object]) -> str:
    """The functions that take most of the time themselves, each with its share."""
    profiler = cProfile.Profile()
    profiler.runcall(work)
    # The entries are (calls, primitive calls, own seconds, seconds, callers) by (file, line, function).
    stats: dict[tuple[str, int, str], tuple[Any, ...]] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]  # not in the stubs
    total = sum(entry[2] for entry in stats.values())
    dearest = sorted(stats.items(), key=lambda item: item[1][2], reverse=True)
    shares = [f"{_named(*place)} {entry[2] / total:.0%}" for place, entry in dearest[: 4 * NAMED]]
    if benchmark.given.profile:
        print(f"{title}:\n  " + "\n  ".join(shares), file=sys.stderr, flush=True)
    return ", ".join(shares[:NAMED])


def _named(file: str, line: int, function: str) -> str:
    """The function with the file it stands in; what is written in C has none."""
    return function if file == "~" else f"{Path(file).stem}.{function}"


if __name__ == "__main__":
    main()
