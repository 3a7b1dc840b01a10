"""Measure random playouts and poker hands per CPU second of other projects and ours: ``make bench-peers``."""

import contextlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Final

from bench.measure import Benchmark, Json, geometric_mean, run, significant
from bench.peers.hands import RANKERS
from bench.peers.playouts import ENGINES

BATCH: Final = 16  # calls between two readings of the CPU clock, which are slow
Prepare = Callable[
    [], dict[str, Callable[[], int]]
]  # imports a library; returns its kinds of work, each of which returns the number of operations


def measure(benchmark: Benchmark) -> Json:
    os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
    playouts, hands = measure_libraries(benchmark, ENGINES), measure_libraries(benchmark, RANKERS)
    for reached in playouts.values():
        if isinstance(reached, dict):
            reached["geometric mean"] = significant(geometric_mean(reached.values()))
    figures: Json = {"random playouts, decisions": playouts, "poker hands": hands}
    figures["ours / theirs, playouts"] = compare_with_ours(playouts, "geometric mean")
    for work in hands["ours"]:
        figures[f"ours / theirs, {work}"] = compare_with_ours(hands, work)
    return figures


def measure_libraries(benchmark: Benchmark, libraries: dict[str, Prepare]) -> Json:
    """Measure all kinds of work of all installed libraries alternately, several times. Return the medians."""
    works: dict[tuple[str, str], Callable[[], int]] = {}
    figures: Json = {}
    for library, prepare in libraries.items():
        benchmark.note(f"preparing {library}")
        try:
            with contextlib.redirect_stdout(sys.stderr):  # some print a greeting
                works |= {(library, name): work for name, work in prepare().items()}
        except ImportError as error:
            figures[library] = f"not measured: {error}"
    speeds: dict[tuple[str, str], list[float]] = {key: [] for key in works}
    for number in range(1, benchmark.size(3, 1) + 1):
        benchmark.note(f"run {number}")
        for key, work in works.items():
            speeds[key].append(repeat_for(0.01 if benchmark.quick else 0.3, work))
    for (library, name), values in speeds.items():
        figures.setdefault(library, {})[name] = significant(statistics.median(values))
    return figures


def repeat_for(seconds: float, work: Callable[[], int]) -> float:
    """Repeat ``work`` for this many CPU seconds. Return the number of operations per CPU second."""
    done, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        done += sum(work() for _ in range(BATCH))
    return done / spent


def compare_with_ours(reached: Json, work: str) -> Json:
    """Return how many times as fast as each library our code does this work."""
    own = reached["ours"][work]
    others = {name: values for name, values in reached.items() if name != "ours" and work in values}
    return {name: significant(own / values[work]) for name, values in others.items()}


if __name__ == "__main__":
    run("peers", "decisions of random playouts, ranked poker hands, per CPU second", measure)
