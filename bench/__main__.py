"""All benchmarks, one after the other, as tables: ``python -m bench [--quick] [NAME…]``. Nothing is kept."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

NAMES = (
    "engine",
    "players",
    "http",
    "http_strictness",
    "matches",
    "ratings",
    "pairing",
    "standings",
    "store",
    "places",
    "api",
    "streams",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all when none is given")
    parser.add_argument("--quick", action="store_true", help="tiny runs that only show the form of the output")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(NAMES)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    failed = [name for name in chosen.names or NAMES if not show(name, quick=chosen.quick)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def show(name: str, *, quick: bool) -> bool:
    """Runs one in a process of its own and prints its figures; False when it fails."""
    command = [sys.executable, "-m", f"bench.{name}", *(["--quick"] if quick else [])]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode != 0:
        return False
    result = json.loads(ran.stdout)
    load = ", ".join(map(str, result["load"]))
    machine = f"{result['cpu']}, {result['cores']} cores, load {load}, yardstick {result['yardstick_ms']} ms"
    table = Table(
        title=f"{name}: {result['about']}",
        caption=f"{machine}, Python {result['python']}",
        title_justify="left",
        caption_justify="left",
        show_header=False,
    )
    for label, value in flat(result["figures"]):
        table.add_row(label, value)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    return True


def flat(figures: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of nested figures, each with the names of all it lies in."""
    for name, value in figures.items():
        label = f"{above}, {name}" if above else name
        if isinstance(value, dict):
            yield from flat(value, label)
        else:
            yield label, f"{value:,}" if isinstance(value, (int, float)) else str(value)


if __name__ == "__main__":
    sys.exit(main())
