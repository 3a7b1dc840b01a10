"""Simulate tournaments of every format and check the invariants of each.

``python -m tools.simulate [--count N] [--seed S] [--only NUMBER] [FORMAT…]``; exit status 1 if an invariant was broken.
"""

import argparse
import sys
import traceback
from collections import Counter
from random import Random
from time import process_time

from referee.pairing.formats import formats
from referee.pairing.kinds import TournamentFormat
from tools.simulate.invariants import check, seat_spread, small_spread
from tools.simulate.simulation import draw_scenario, play_to_end
from tools.simulate.tables import judge_tables, merge

SEED, COUNT = 1, 3_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.simulate", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="FORMAT", help=f"One or more of {', '.join(TournamentFormat)}; all by default."
    )
    parser.add_argument("--seed", type=int, default=SEED, help="Seed of all random choices.")
    parser.add_argument("--count", type=int, default=COUNT, help="Number of tournaments, over all formats.")
    parser.add_argument(
        "--only", type=int, help="Simulate only the tournament with this number, and print a traceback if it fails."
    )
    options = parser.parse_args()
    if unknown := {*options.names} - {*TournamentFormat}:
        parser.error(f"Unknown format: {', '.join(sorted(unknown))}. Available: {', '.join(TournamentFormat)}.")
    names = options.names or [*TournamentFormat]
    print(f"seed {options.seed}", flush=True)
    broken = Counter[str]()
    totals = {name: Counter[str]() for name in names}
    tables: dict[tuple[str, int], Counter[str]] = {}
    began = process_time()
    for number in range(options.count) if options.only is None else [options.only]:
        name = names[number % len(names)]
        try:
            totals[name].update(simulate_tournament(name, options.seed, number, tables))
        except AssertionError as error:
            broken[name] += 1
            print(f"broken: {name} {number}: {error}", flush=True)
            if options.only is not None:
                traceback.print_exc()
    for name, counts in totals.items():
        print(f"{name:20} " + ", ".join(f"{count:,} {label}" for label, count in counts.items()))
    for (name, seats), counts in sorted(tables.items()):
        print(f"{name:20} {seats} seats: " + ", ".join(f"{count:,} {label}" for label, count in counts.items()))
    print(f"{broken.total()} broken, {process_time() - began:.1f} s of CPU")
    return 1 if broken else 0


def simulate_tournament(
    name: str, seed: int, number: int, tables: dict[tuple[str, int], Counter[str]]
) -> dict[str, int]:
    """Simulate one tournament and return counts. Raise AssertionError if an invariant is broken.

    Add the counts of its tables to ``tables``, by format and number of seats.
    """
    rng = Random(f"{seed} {name} {number}")
    scenario = draw_scenario(formats()[name], rng)
    try:
        history = play_to_end(scenario, rng)
        check(history)
        counts = tables.setdefault((name, scenario.tournament.seats), Counter())
        merge(counts, judge_tables(history, seat_spread(history), small_spread(history)))
    except AssertionError as error:
        raise AssertionError(f"{error} ({scenario})") from error
    calm = scenario.mishaps.calm
    return {"tournaments": 1, "without mishaps": int(calm), "rounds": len(history.decided), "matches": history.matches}


if __name__ == "__main__":
    sys.exit(main())
