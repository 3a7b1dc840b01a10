"""Run the service on several hosts: ``python -m tools.hosts [--only SCENARIO] [--seed S] [--scaling]``.

The hosts are network namespaces of this machine, so it needs root and ``ip``. It prints a table of the scenarios and
the invariants. The exit status is 1 if an invariant was broken or a match stood still for more than 20 s, and 3 if no
hosts can be made here.
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import SystemRandom

from tests.database import postgres
from tools.chaos.invariants import list_broken, render_table
from tools.hosts.campaign import HostsReport, run_campaign
from tools.hosts.lan import why_unavailable
from tools.hosts.scaling import measure_scaling
from tools.hosts.scenarios import SCENARIOS
from tools.hosts.silences import render_windows

UNAVAILABLE = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.hosts", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=[*SCENARIOS], help="Run this scenario only; may be repeated."
    )
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6), help="Seed of all random choices.")
    parser.add_argument("--scaling", action="store_true", help="Measure throughput with 1, 2 and 3 worker hosts only.")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that processes and namespaces are removed
    if reason := why_unavailable():
        print(f"*** NOT TESTED: several hosts: {reason} ***")
        return UNAVAILABLE
    try:
        return _run(options)
    except postgres.NoPostgres as error:
        print(f"*** NOT TESTED: several hosts: {error} ***")
        return UNAVAILABLE
    except KeyboardInterrupt:
        print("interrupted; all hosts were removed")
        return 130


def _run(options: argparse.Namespace) -> int:
    print(f"seed {options.seed}", flush=True)
    status = 0
    if not options.scaling:
        status = _run_scenarios(options.only or [*SCENARIOS], options.seed)
    if options.scaling or not options.only:
        with tempfile.TemporaryDirectory(prefix="hosts") as folder:
            scaling = measure_scaling(options.seed, Path(folder))
        print("\n" + scaling.render())
        status = status or int(not scaling.is_proportional)
    return status


def _run_scenarios(names: Sequence[str], seed: int) -> int:
    with tempfile.TemporaryDirectory(prefix="hosts") as folder:
        report = run_campaign(names, seed, Path(folder))
    print_report(report)
    stood_still = any(window.too_long for window in report.windows)
    return 1 if stood_still or list_broken(report.findings) else 0


def print_report(report: HostsReport) -> None:
    print(f"\n{report.matches} matches, {report.asks} questions, {report.refused} requests repeated")
    print(f"hosts that logged that their clock differs: {', '.join(report.clocks_noticed) or 'none'}\n")
    print(render_windows(report.windows) + "\n")
    print(render_table(report.findings))
    for part in report.not_tested:
        print(f"*** NOT TESTED: {part} ***")


if __name__ == "__main__":
    sys.exit(main())
