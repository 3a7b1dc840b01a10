"""What the benchmarks share: their command line, medians of CPU time, and the line of JSON at the end."""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

TICKS: Final = os.sysconf("SC_CLK_TCK")


class Benchmark:
    """One run of a benchmark: how much to measure, and where to remark on progress.

    ``quick`` asks for the smallest run that still gives every figure: its numbers mean nothing.
    """

    def __init__(self, name: str, about: str, given: argparse.Namespace) -> None:
        self.name = name
        self.about = about
        self.given = given
        self.quick: bool = given.quick

    @classmethod
    def from_command_line(cls, name: str, about: str, **options: Json) -> "Benchmark":
        """``options`` are those of this benchmark alone, as the argument parser takes them."""
        parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=about)
        parser.add_argument("--quick", action="store_true", help="a tiny run that only shows the form of the output")
        for option, settings in options.items():
            parser.add_argument(f"--{option}", **settings)
        return cls(name, about, parser.parse_args())

    def size(self, usual: int, quick: int) -> int:
        return quick if self.quick else usual

    @property
    def runs(self) -> int:
        return self.size(5, 1)

    def note(self, text: str) -> None:
        """Progress, for whoever waits."""
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)

    def report(self, figures: Json) -> None:
        """The one line on standard output."""
        line = {"benchmark": self.name, "about": self.about, "quick": self.quick, **machine(), "figures": figures}
        print(json.dumps(line), flush=True)


def machine() -> Json:
    """Where and when this was measured, how busy the machine was, and how fast a fixed piece of work went."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "yardstick_ms": rounded(statistics.median(1000 * cpu_seconds(_yardstick) for _ in range(5))),
    }


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds, of all threads of this process, that ``work`` takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def per_cpu_second(count: int, work: Callable[[], object], runs: int) -> float:
    """How many of ``count`` things that ``work`` does go into a CPU second: the median of several runs."""
    return count / statistics.median(cpu_seconds(work) for _ in range(runs))


def rounded(value: float, digits: int = 3) -> float:
    """To so many significant digits; figures with more would pretend."""
    return float(f"{value:.{digits}g}")


# -- other processes --


def cpu_of(pid: int) -> float:
    """CPU seconds a living process has used, its waited-for children's included."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(ticks) for ticks in parts[11:15]) / TICKS


def memory_mib(pid: int) -> Json:
    """Resident and proportional memory of a process."""
    kib = {
        name: int(value.split()[0])
        for name, _, value in (
            line.partition(":") for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        )
        if name in ("Rss", "Pss")
    }
    return {"rss_mib": rounded(kib["Rss"] / 1024), "pss_mib": rounded(kib["Pss"] / 1024)}


def children_of(pid: int) -> list[int]:
    """The process's children, by the thread that made them."""
    return [
        int(child) for listed in Path(f"/proc/{pid}/task").glob("*/children") for child in listed.read_text().split()
    ]


def _yardstick() -> None:
    """A fixed piece of work. Cores that are shared with others take longer for it, in CPU time too."""
    counts: dict[int, int] = {}
    for number in range(100_000):
        counts[number & 1023] = counts.get(number & 1023, 0) + number


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
