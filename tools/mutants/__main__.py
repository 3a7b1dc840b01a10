"""Plant faults in the rules of the games and report which of them the tests catch.

``python -m tools.mutants [--seed N] [--count N] [--kinds K,K] [--committed] [GAME…]``; exit status 1 if any survived.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

from tools.mutants.campaign import TARGETS, Outcome, select_faults, table, try_faults
from tools.mutants.copies import Copy

SEED, COUNT = 1, 60


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="GAME", help=f"One or more of {', '.join(TARGETS)}; all by default."
    )
    parser.add_argument("--seed", type=int, default=SEED, help="Seed of the choice of faults.")
    parser.add_argument("--count", type=int, default=COUNT, help="Number of faults per game, at most one per line.")
    parser.add_argument("--kinds", default="", help="Kinds of faults to plant, separated by commas.")
    parser.add_argument("--committed", action="store_true", help="Plant in the last commit, not in the working tree.")
    options = parser.parse_args()
    unknown = {*options.names} - {*TARGETS}
    if unknown:
        parser.error(f"Unknown game: {', '.join(sorted(unknown))}. Available: {', '.join(TARGETS)}.")
    print(f"seed {options.seed}", flush=True)
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="mutants") as folder, Copy(Path(folder), options.committed) as copy:
        for name in options.names or TARGETS:
            kinds = [kind for kind in options.kinds.split(",") if kind]
            faults = select_faults(copy, TARGETS[name], options.count, Random(f"{options.seed} {name}"), kinds)
            print(f"{name}: {len(faults)} faults", flush=True)
            outcomes[name] = try_faults(copy, TARGETS[name], faults, lambda line: print(f"  {line}", flush=True))
    return print_outcomes(outcomes)


def print_outcomes(outcomes: dict[str, Outcome]) -> int:
    """Print the table, the explained faults and the survivors; return the exit status."""
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
