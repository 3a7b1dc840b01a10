"""Plants faults in the rules of the games and tells which of them the tests notice.

``python -m tools.mutants [--seed N] [--count N] [--kinds K,K] [--committed] [GAME…]``; ends with 1 when one survived.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

from tools.mutants.campaign import TARGETS, Outcome, planted, table, tried
from tools.mutants.copies import Copy

SEED, COUNT = 1, 60


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="GAME", help=f"of {', '.join(TARGETS)}; all when none is given")
    parser.add_argument("--seed", type=int, default=SEED, help="chooses the faults")
    parser.add_argument("--count", type=int, default=COUNT, help="faults a game, at most one a line")
    parser.add_argument("--kinds", default="", help="plant only these, parted by commas")
    parser.add_argument("--committed", action="store_true", help="plant in what git has, not in what lies here")
    given = parser.parse_args()
    unknown = {*given.names} - {*TARGETS}
    if unknown:
        parser.error(f"no such game: {', '.join(sorted(unknown))}")
    print(f"seed {given.seed}", flush=True)
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="mutants") as folder, Copy(Path(folder), given.committed) as copy:
        for name in given.names or TARGETS:
            kinds = [kind for kind in given.kinds.split(",") if kind]
            faults = planted(copy, TARGETS[name], given.count, Random(f"{given.seed} {name}"), kinds)
            print(f"{name}: {len(faults)} faults", flush=True)
            outcomes[name] = tried(copy, TARGETS[name], faults, lambda line: print(f"  {line}", flush=True))
    return told(outcomes)


def told(outcomes: dict[str, Outcome]) -> int:
    print(f"\n{table(outcomes)}\n")
    for outcome in outcomes.values():
        for fault, reason in outcome.explained:
            print(f"no difference: {fault}\n    {reason}")
    survivors = [fault for outcome in outcomes.values() for fault in outcome.survived]
    for fault in survivors:
        print(f"survived: {fault}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
