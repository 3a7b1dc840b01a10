"""Run benchmarks one after the other and print their figures as tables: ``python -m bench [--quick] [NAME…]``."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

from rich.console import Console
from rich.table import Table

NAMES: Final = (
    *("engine", "environments", "http", "http_strictness", "matches", "ratings"),
    *(
        "pairing",
        "standings",
        "store",
        "claims",
        "ladders",
        "growth",
        "api",
        "requests",
        "open_pages",
        "streams",
        "latency",
        "newcomer",
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"One or more of {', '.join(NAMES)}; all by default.")
    parser.add_argument("--quick", action="store_true", help="Make tiny runs, which only show the form of the output.")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"Unknown benchmark: {', '.join(sorted(unknown))}. Available: {', '.join(NAMES)}.")
    failed = [name for name in options.names or NAMES if not show(name, quick=options.quick)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def show(name: str, *, quick: bool) -> bool:
    """Run a benchmark in its own process and print its figures. Return whether it succeeded."""
    command = [sys.executable, "-m", f"bench.{name}", *(["--quick"] if quick else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        return False
    result = json.loads(done.stdout)
    load = ", ".join(map(str, result["load"]))
    machine = f"{result['cpu']}, {result['cores']} cores, load {load}, yardstick {result['yardstick_ms']} ms"
    title, caption = f"{name}: {result['about']}", f"{machine}, Python {result['python']}"
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left", show_header=False)
    for label, value in flatten(result["figures"]):
        table.add_row(label, value)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    return True


def flatten(figures: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested figures, each with the names of the levels above it."""
    for name, value in figures.items():
        label = f"{above}, {name}" if above else name
        if isinstance(value, dict):
            yield from flatten(value, label)
        else:
            yield label, f"{value:,}" if isinstance(value, (int, float)) else str(value)


if __name__ == "__main__":
    sys.exit(main())
