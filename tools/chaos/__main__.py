"""Run a campaign: ``python -m tools.chaos [--injuries N] [--seed S] [--postgres] [--planted]``.

It prints its seed, every injury, the invariants and the longest standstills. The exit status is 1 if one was broken.
"""

import argparse
import signal
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from random import SystemRandom

from tests.database import postgres
from tools.chaos.campaign import Report, run_campaign
from tools.chaos.invariants import describe, list_broken, render_table
from tools.chaos.network import DATABASE_HOST, WORKER_HOST, Namespace, why_unavailable
from tools.chaos.scenarios import EXPOSURES
from tools.chaos.standstills import find_longest_standstills, render_standstills

INJURIES, INJURIES_PER_FAULT = 300, 60


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.chaos", description=__doc__)
    parser.add_argument("--injuries", type=int, help=f"Number of injuries; {INJURIES} by default.")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6), help="Seed of all random choices.")
    parser.add_argument("--postgres", action="store_true", help="Start a PostgreSQL server and use it, not SQLite.")
    parser.add_argument(
        "--planted", action="store_true", help="Run a shorter campaign with each planted fault and report what breaks."
    )
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that processes and namespace are removed
    print(f"seed {options.seed}", flush=True)
    if options.planted:
        return run_planted(options.injuries or INJURIES_PER_FAULT, options.seed, options.postgres)
    report = _run(options.injuries or INJURIES, options.seed, options.postgres)
    print_report(report)
    return 1 if list_broken(report.findings) else 0


def run_planted(injuries: int, seed: int, with_postgres: bool) -> int:
    """Run a campaign with each fault that can show on this database. Return 1 if none breaks an invariant."""
    found, notes = {}, {}
    for fault, exposure in EXPOSURES.items():
        if exposure.database not in ("any", "postgresql" if with_postgres else "sqlite"):
            continue
        print(f"--- {fault}", flush=True)
        report = _run(injuries, seed, with_postgres, fault=fault)
        found[fault] = list_broken(report.findings)
        notes[fault] = describe(found[fault]) if report.has_fault_acted else "no process reached the planted fault"
    width = max(map(len, notes))
    for fault, invariants in notes.items():
        print(f"{fault:{width}}  {invariants}")
    return 0 if any(found.values()) else 1


def _run(injuries: int, seed: int, with_postgres: bool, *, fault: str = "") -> Report:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chaos")))
        server, namespace = None, None
        if with_postgres:
            reason = why_unavailable()
            if reason:
                print(f"*** NOT TESTED: a cut network between a worker and the database: {reason} ***", flush=True)
            else:
                namespace = stack.enter_context(Namespace())
            hosts = "127.0.0.1" if reason else f"127.0.0.1,{DATABASE_HOST}"
            server = stack.enter_context(postgres.server(listen_addresses=hosts))
            if namespace:
                server.trust(f"{WORKER_HOST}/32")
        else:
            print("*** NOT TESTED: a cut network, since SQLite has none; use --postgres ***", flush=True)
        return run_campaign(injuries, seed, folder, server=server, namespace=namespace, fault=fault, thorough=not fault)


def print_report(report: Report) -> None:
    asks = report.bots.notebook.all_asks()
    times = Counter(Counter(ask.id for ask in asks).values())
    print(f"\n{len(report.injuries)} injuries in {report.duration_s:.0f} s; {report.unanswered} requests repeated")
    print(f"{report.claims.total()} matches, all over {report.ended_after_s:.0f} s after the last injury")
    if report.has_namespace:
        print(f"{report.finished_far} matches were finished by the worker in the network namespace")
        if not report.finished_far:
            print("*** NOT TESTED: a cut network, since that worker finished no match ***")
    print(f"processes that ended with an error: {dict(report.failed) or 'none'}")
    print(f"matches by number of claims: {dict(sorted(report.claims.items()))}")
    print(f"decisions by number of times asked: {dict(sorted(times.items()))}\n")
    print(render_table(report.findings) + "\n")
    print(render_standstills(find_longest_standstills(report.bots.notebook, report.injuries), report.injuries))


if __name__ == "__main__":
    sys.exit(main())
