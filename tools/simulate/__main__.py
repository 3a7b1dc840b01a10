"""Plays simulated events of every format and checks what must hold of all of them.

``python -m tools.simulate [--count N] [--seed S] [--only NUMBER] [FORMAT…]``; ends with 1 when something was broken.
"""

import argparse
import sys
import traceback
from collections import Counter
from random import Random
from time import process_time

from referee.pairing.formats import formats
from referee.pairing.kinds import TournamentFormat
from tools.simulate.invariants import check
from tools.simulate.ladders import ladder
from tools.simulate.simulation import NAMES, drawn, played_out

SEED, COUNT = 1, 3_000
EVERY = (*NAMES, TournamentFormat.LADDER)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.simulate", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="FORMAT", help=f"of {', '.join(EVERY)}; all when none is given")
    parser.add_argument("--seed", type=int, default=SEED, help="draws the events")
    parser.add_argument("--count", type=int, default=COUNT, help="events in all")
    parser.add_argument("--only", type=int, help="play this one of them alone, and show where it breaks")
    given = parser.parse_args()
    if unknown := {*given.names} - {*EVERY}:
        parser.error(f"no such format: {', '.join(sorted(unknown))}")
    names = given.names or EVERY
    print(f"seed {given.seed}", flush=True)
    broken = Counter[str]()
    told = {name: Counter[str]() for name in names}
    began = process_time()
    for number in range(given.count) if given.only is None else [given.only]:
        name = names[number % len(names)]
        try:
            told[name].update(simulated(name, given.seed, number))
        except AssertionError as error:
            broken[name] += 1
            print(f"broken: {name} {number}: {error}", flush=True)
            if given.only is not None:
                traceback.print_exc()
    for name, counts in told.items():
        print(f"{name:20} " + ", ".join(f"{many:,} {what}" for what, many in counts.items()))
    print(f"{broken.total()} broken, {process_time() - began:.1f} s of CPU")
    return 1 if broken else 0


def simulated(name: str, seed: int, number: int) -> dict[str, int]:
    """Plays one event and checks it; what it came to. Raises AssertionError."""
    rng = Random(f"{seed} {name} {number}")
    if name == TournamentFormat.LADDER:
        return ladder(rng)
    scenario = drawn(formats()[name], rng)
    try:
        history = played_out(scenario, rng)
        check(history)
    except AssertionError as error:
        raise AssertionError(f"{error} ({scenario})") from error
    calm = scenario.mishaps.calm
    return {"events": 1, "in calm": int(calm), "rounds": len(history.decided), "matches": history.matches}


if __name__ == "__main__":
    sys.exit(main())
