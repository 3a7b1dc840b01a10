"""Measure engines, learning environments and poker hands of other projects and ours: ``make bench-peers``."""

import contextlib
import os
import statistics
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from bench.measure import Benchmark, Json, geometric_mean, repeat_for, run, significant
from bench.peers.environments import ENVIRONMENTS, TENSORS
from bench.peers.hands import RANKERS
from bench.peers.playouts import ENGINES

Prepare = Callable[
    [], dict[str, Callable[[], int]]
]  # imports a library; returns its kinds of work, each of which returns the number of operations

PLAY: Final = {
    "engines, decisions": ENGINES,
    "environments, steps": ENVIRONMENTS,
    "OpenSpiel with tensors, decisions": TENSORS,
}


def measure(benchmark: Benchmark) -> Json:
    os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
    figures: Json = {}
    for kind, libraries in PLAY.items():
        speeds = measure_libraries(benchmark, libraries)
        for reached in speeds.values():
            if isinstance(reached, dict):
                reached["geometric mean"] = significant(geometric_mean(reached.values()))
        figures[kind] = speeds
        figures[f"ours / theirs, {kind}"] = compare_with_ours(speeds, "geometric mean")
    hands = figures["poker hands"] = measure_libraries(benchmark, RANKERS)
    for work in hands["ours"]:
        figures[f"ours / theirs, {work}"] = compare_with_ours(hands, work)
    return figures


def measure_libraries(benchmark: Benchmark, libraries: dict[str, Prepare]) -> Json:
    """Measure all kinds of work of all installed libraries alternately, several times. Return the medians.

    The name of a library begins with that of its distribution, and the figures name its version.
    """
    works: dict[tuple[str, str], Callable[[], int]] = {}
    figures: Json = {}
    for name, prepare in libraries.items():
        library = name_with_version(name)
        benchmark.note(f"preparing {library}")
        try:
            with contextlib.redirect_stdout(sys.stderr):  # some print a greeting
                works |= {(library, label): work for label, work in prepare().items()}
        except ImportError as error:
            figures[library] = f"not measured: {error}"
    speeds: dict[tuple[str, str], list[float]] = {key: [] for key in works}
    for number in range(1, benchmark.size(3, 1) + 1):
        benchmark.note(f"run {number}")
        for key, work in works.items():
            speeds[key].append(repeat_for(0.01 if benchmark.quick else 0.3, work))
    for (library, label), values in speeds.items():
        figures.setdefault(library, {})[label] = significant(statistics.median(values))
    return figures


def name_with_version(library: str) -> str:
    """Return the name with the installed version after the distribution, if that is installed."""
    distribution, comma, variant = library.partition(",")
    try:
        return f"{distribution} {version(distribution)}{comma}{variant}"
    except PackageNotFoundError:
        return library


def compare_with_ours(reached: Json, work: str) -> Json:
    """Return how many times as fast as each library our code does this work. Without a figure of ours, return {}."""
    if isinstance(reached["ours"], str):  # our environments need PettingZoo and OpenSpiel, which may be missing
        return {}
    own = reached["ours"][work]
    others = {name: values for name, values in reached.items() if name != "ours" and work in values}
    return {name: significant(own / values[work]) for name, values in others.items()}


if __name__ == "__main__":
    run("peers", "decisions of engines, steps of learning environments, poker hands, per CPU second", measure)
