"""Random playouts and poker hands a CPU second, of peers and of ours in turn: ``make bench-peers``."""

import contextlib
import itertools
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Final

from bench.measure import Benchmark, Json, rounded
from bench.peers.playing import PLAYERS
from bench.peers.ranking import RANKERS

BATCH: Final = 16  # calls between two looks at the clock, which is dear here


def main() -> None:
    benchmark = Benchmark.from_command_line("peers", "decisions of random playouts, poker hands ranked, per CPU second")
    os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
    figures: Json = {
        "random playouts, decisions": compared(benchmark, PLAYERS),
        "poker hands": compared(benchmark, RANKERS),
    }
    playouts, hands = figures.values()
    for reached in playouts.values():
        if isinstance(reached, dict):
            reached["geometric mean"] = rounded(math.prod(reached.values()) ** (1 / len(reached)))
    figures["ours / theirs, playouts"] = multiples(playouts, "geometric mean")
    for work in hands["ours"]:
        figures[f"ours / theirs, {work}"] = multiples(hands, work)
    benchmark.report(figures)


def compared(benchmark: Benchmark, libraries: dict[str, Callable[[], dict[str, Callable[[], int]]]]) -> Json:
    """Every work of every library that is installed, in turn, several times; of each the median."""
    works: dict[tuple[str, str], Callable[[], int]] = {}
    figures: Json = {}
    for library, prepare in libraries.items():
        benchmark.note(f"preparing {library}")
        try:
            with contextlib.redirect_stdout(sys.stderr):  # some greet
                works |= {(library, name): work for name, work in prepare().items()}
        except ImportError as error:
            figures[library] = f"not measured: {error}"
    seconds = 0.3 if not benchmark.quick else 0.01
    speeds: dict[tuple[str, str], list[float]] = {work: [] for work in works}
    for run in range(benchmark.size(3, 1)):
        benchmark.note(f"run {run + 1}")
        for key, work in works.items():
            speeds[key].append(per_cpu_second(work, seconds))
    for (library, name), values in speeds.items():
        figures.setdefault(library, {})[name] = rounded(statistics.median(values))
    return figures


def multiples(reached: Json, work: str) -> Json:
    """Ours by that of each peer that was measured at it."""
    own = reached["ours"][work]
    peers = {name: values for name, values in reached.items() if name != "ours" and work in values}
    return {name: rounded(own / values[work]) for name, values in peers.items()}


def per_cpu_second(work: Callable[[], int], seconds: float) -> float:
    """How many of what ``work`` counts go into a CPU second; it is called again and again for so many."""
    done, start = 0, time.process_time()
    for calls in itertools.count(1):
        done += work()
        if calls % BATCH == 0 and time.process_time() - start >= seconds:
            break
    return done / (time.process_time() - start)


if __name__ == "__main__":
    main()
