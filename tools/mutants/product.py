"""Plant faults in every room of the product outside the games, and report which of them the tests catch.

``python -m tools.mutants.product [--seed N] [--count N] [--folder FOLDER] [--pytest ARGUMENTS] [ROOM…]``. Each room, a
package of ``referee``, ``api``, ``workers`` or ``referee_extras``, gets the same number of faults. The first run copies
the project to the folder and records there which tests run which line; later runs use what it found. A fault is tried
against the tests that run its line, those of the room first, then the quickest; against no more of them than ``CAP_S``
allows. A failure counts if the test then passes without the fault.
"""

import argparse
import shlex
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tools.mutants.copies import PRODUCT, Copy
from tools.mutants.faults import PlantedFault, faults_of, sample_faults
from tools.mutants.line_coverage import LineCoverage, record

LEFT_OUT = ("referee/games/", "referee/db/migrations/")
SEED, COUNT = 1, 300
CAP_S, AT_LEAST_S = 60.0, 20.0  # tests of a fault; limit of CPU time


@dataclass(frozen=True, slots=True)
class Trial:
    """Say how a fault fared. ``caught_by`` is "" if it survived ``tried`` of ``tests``."""

    room: str
    fault: PlantedFault
    tests: int
    tried: int
    caught_by: str

    def __str__(self) -> str:
        if self.caught_by:
            return f"{self.fault.path}:{self.fault.line} {self.fault.kind}: {self.caught_by}"
        return f"SURVIVED {self.tried} of {self.tests} tests that run it: {self.fault}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants.product", description=__doc__)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help="Rooms such as referee/db; all by default.")
    parser.add_argument("--seed", type=int, default=SEED, help="Seed of the choice of faults.")
    parser.add_argument("--count", type=int, default=COUNT, help="Number of faults in all rooms together.")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "referee-mutants")
    parser.add_argument(
        "--pytest", default="", help='Arguments for the run with coverage, such as "-n 3 tests/db"; all by default.'
    )
    options = parser.parse_args()
    fresh = not options.folder.exists()
    options.folder.mkdir(exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # leaves no fault in the copy
    with Copy(options.folder, committed=False, fresh=fresh) as copy:
        if fresh:
            record(options.folder, PRODUCT, shlex.split(options.pytest))
        trials = try_rooms(copy, LineCoverage(options.folder), options.rooms, options.count, options.seed)
    print(f"\n{table(trials)}")
    return 0 if all(trial.caught_by for trial in trials) else 1


def try_rooms(copy: Copy, known: LineCoverage, names: Sequence[str], count: int, seed: int) -> list[Trial]:
    """Try ``count`` faults, as many in each room, and print each outcome."""
    rooms = {name: paths for name, paths in rooms_of(copy.folder).items() if not names or name in names}
    trials: list[Trial] = []
    for room, paths in rooms.items():
        faults = [fault for path in paths for fault in faults_of(path, copy.source(path)) if is_planted(fault)]
        for fault in sample_faults(faults, -(-count // len(rooms)), Random(f"{seed} {room}")):
            trials.append(try_fault(copy, known, room, fault))
            print(
                f"{fault.path}:{fault.line} {trials[-1].caught_by}" if trials[-1].caught_by else trials[-1], flush=True
            )
    return trials


def is_planted(fault: PlantedFault) -> bool:
    """Return whether it is of a kind that is not for games alone, and changes more than what is logged."""
    return fault.kind != "seat" and not fault.before.lstrip().startswith("log.")


def rooms_of(folder: Path) -> dict[str, list[str]]:
    """Return the files of each room: a package of the product, or the files beside the packages."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for top in PRODUCT:
        for path in sorted((folder / top).rglob("*.py")):
            name = str(path.relative_to(folder))
            if not name.startswith(LEFT_OUT):
                package = path.relative_to(folder / top).parts[0]
                rooms[f"{top}/(top)" if package.endswith(".py") else f"{top}/{package}"].append(name)
    return rooms


def try_fault(copy: Copy, known: LineCoverage, room: str, fault: PlantedFault) -> Trial:
    """Run the tests on a fault until one fails."""
    tests = known.tests_of(fault.path, fault.line)
    tried: list[str] = []
    taken_s = 0.0
    own = f"/{room.rpartition('/')[2]}/"
    for test in sorted(tests, key=lambda test: (own not in test, known.times[test], test)):
        taken_s += known.times[test]
        if tried and taken_s > CAP_S:
            break
        tried.append(test)
    limit_s = AT_LEAST_S + 5 * min(taken_s, CAP_S)
    with copy.with_source(fault.path, fault.plant_in(copy.source(fault.path))):
        caught_by = copy.run(tried, limit_s, rules=False)["caught"] if tried else ""
    if caught_by in tests and copy.run([caught_by], limit_s, rules=False)["caught"]:
        known.times.pop(caught_by)  # it fails for another reason
        return try_fault(copy, known, room, fault)
    return Trial(room, fault, len(tests), len(tried), caught_by)


def table(trials: Sequence[Trial]) -> str:
    """Return a Markdown table of the counts of each room."""
    planted, caught = (
        Counter(trial.room for trial in trials),
        Counter(trial.room for trial in trials if trial.caught_by),
    )
    unrun = Counter(trial.room for trial in trials if not trial.tests)
    lines = [f"| {room} | {planted[room]} | {caught[room]} | {unrun[room]} |" for room in planted]
    total = f"| all | {len(trials)} | {caught.total()} | {unrun.total()} |"
    return "\n".join(["| room | planted | caught | run by no test |", "| --- | --: | --: | --: |", *lines, total])


if __name__ == "__main__":
    sys.exit(main())
