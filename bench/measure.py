"""Run a benchmark as a program: parse its options, time work, print the figures as one line of JSON."""

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]
Work = Callable[[], object]

BATCH: Final = 16  # calls between two readings of the CPU clock, which are slow


class Benchmark:
    """Hold the options of one run. A ``quick`` run only shows the form of the output; its numbers are meaningless."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        self.name = name
        self.options = options
        self.quick: bool = options.quick
        self.runs = self.size(5, 1)

    def size(self, usual: int, quick: int) -> int:
        """Return ``quick`` in a quick run, otherwise ``usual``."""
        return quick if self.quick else usual

    def note(self, text: str) -> None:
        """Print progress to standard error."""
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)


def run(name: str, about: str, measure: Callable[[Benchmark], Json], **options: Json) -> None:
    """Run ``measure`` with the options of the command line, and print its figures with a description of the machine.

    ``options`` are additional command-line options of this benchmark, each with its arguments for ``add_argument``.
    """
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=about)
    parser.add_argument(
        "--quick", action="store_true", help="Make a tiny run, which only shows the form of the output."
    )
    for option, settings in options.items():
        parser.add_argument(f"--{option}", **settings)
    benchmark = Benchmark(name, parser.parse_args())
    line = {"benchmark": name, "about": about, "quick": benchmark.quick, **describe_machine()}
    print(json.dumps({**line, "figures": measure(benchmark)}), flush=True)


def describe_machine() -> Json:
    """Return the time, the interpreter, the machine, its load, and the CPU time of a fixed piece of work."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": sys.version,  # with the build and its compiler, because builds of one version differ
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "yardstick_ms": cpu_ms(_do_fixed_work, runs=5),
    }


# -- timing --


@dataclass(frozen=True, slots=True)
class Seconds:
    """Hold the duration of some work: wall time, CPU time of the process, and CPU time of the calling thread."""

    wall: float
    cpu: float
    thread: float

    def __truediv__(self, count: float) -> "Seconds":
        return Seconds(*(seconds / count for seconds in astuple(self)))


def time_of(work: Work) -> Seconds:
    """Run ``work`` once and return its duration."""
    start = time.perf_counter(), time.process_time(), time.thread_time()
    work()
    end = time.perf_counter(), time.process_time(), time.thread_time()
    return Seconds(*(after - before for before, after in zip(start, end, strict=True)))


def median_timing(timings: Iterable[Seconds]) -> Seconds:
    """Return the median of each kind of time."""
    return Seconds(*map(statistics.median, zip(*map(astuple, timings), strict=True)))


def cpu_ms(work: Work, runs: int = 1) -> float:
    """Return the median CPU time of several runs in milliseconds, rounded to three digits."""
    return significant(1000 * median_timing(time_of(work) for _ in range(runs)).cpu)


def per_cpu_second(count: int, work: Work, runs: int) -> float:
    """Return the number of operations per CPU second: the median of ``runs`` runs with ``count`` operations each."""
    return count / median_timing(time_of(work) for _ in range(runs)).cpu


def repeat_for(seconds: float, work: Callable[[], int]) -> float:
    """Repeat ``work``, which returns a number of operations, for this CPU time. Return operations per CPU second."""
    done, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        done += sum(work() for _ in range(BATCH))
    return done / spent


# -- figures --


def significant(value: float, digits: int = 3) -> float:
    """Round to this many significant digits."""
    return float(f"{value:.{digits}g}")


def geometric_mean(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def _do_fixed_work() -> None:
    counts: dict[int, int] = {}
    for number in range(100_000):
        counts[number & 1023] = counts.get(number & 1023, 0) + number


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
