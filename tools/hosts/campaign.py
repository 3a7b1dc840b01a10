"""Run scenarios on a site of several hosts, one after the other, and judge what the bots and the database saw."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.database import postgres
from tools.chaos.bots import RandomBots
from tools.chaos.invariants import Invariant, InvariantReport, check_invariants, collect_evidence
from tools.hosts.clocks import NoShift, build_library, shift_settings
from tools.hosts.lan import Lan
from tools.hosts.scenarios import CUT_S, SCENARIOS, WARM_UP_S, ScenarioContext, ScenarioNotTested
from tools.hosts.service import DATABASE, REDIS, DistributedService
from tools.hosts.silences import Window, WindowReport, measure_window
from tools.hosts.workload import LATENCY_MS, Workload

API_HOSTS, WORKER_HOSTS, OPEN_MATCHES = 2, 3, 24
SHIFTS_S = {"api1": 60, "worker1": 60, "api2": -60, "worker2": -60}  # two minutes between the extremes


class Size(NamedTuple):
    """Say how large a campaign is."""

    apis: int = API_HOSTS
    workers: int = WORKER_HOSTS
    open_matches: int = OPEN_MATCHES
    cut_s: float = CUT_S
    latency_ms: int = LATENCY_MS  # of the fastest bot
    most_rounds: int = 5  # of a match

    @property
    def names(self) -> list[str]:
        """Return the names of all hosts."""
        apis = [f"api{number}" for number in range(1, self.apis + 1)]
        return [DATABASE, REDIS, *apis, *(f"worker{number}" for number in range(1, self.workers + 1))]


@dataclass(slots=True)
class HostsReport:
    """Hold what a campaign did and found."""

    windows: list[WindowReport] = field(default_factory=list)
    findings: dict[Invariant, InvariantReport] = field(default_factory=dict)
    not_tested: list[str] = field(default_factory=list)
    clocks_noticed: list[str] = field(default_factory=list)  # hosts that logged that their clock differs
    matches: int = 0
    asks: int = 0
    refused: int = 0  # requests to the API that were sent again


def run_campaign(names: Sequence[str], seed: int, folder: Path, size: Size | None = None) -> HostsReport:
    """Start a site in ``folder``, run these scenarios on it, and wait until all matches are over."""
    size = size or Size()
    report, rng = HostsReport(), Random(seed)
    with ExitStack() as stack:
        lan = stack.enter_context(Lan(size.names))
        server = start_database(stack, lan)
        bots = stack.enter_context(RandomBots(seed))
        site = stack.enter_context(DistributedService(folder, lan, server, _shift_clocks(folder, report)))
        workload = start_workload(site, bots, rng, size)
        windows = [_run_scenario(name, ScenarioContext(site, workload, size.cut_s), report) for name in names]
        print("waiting for the end of all matches", flush=True)
        try:
            workload.finish()
        except AssertionError as error:  # matches that do not end break an invariant
            print(error, flush=True)
        _judge(report, windows, workload)
    return report


def start_database(stack: ExitStack, lan: Lan, **settings: object) -> postgres.Server:
    """Start PostgreSQL on its host, with every commit flushed."""
    host = lan[DATABASE]
    safe = {"fsync": "on", "full_page_writes": "on", "max_connections": "200"}
    with host.enter_network():
        server = stack.enter_context(postgres.server(listen_addresses=host.address, **safe, **settings))
    server.trust(lan.range)
    return server


def start_workload(site: DistributedService, bots: RandomBots, rng: Random, size: Size) -> Workload:
    """Start all hosts, and return when each is at work."""
    site.redis()
    Workload.enlist_bots(site, bots, size.latency_ms)
    workload = Workload(site, bots, rng, open_matches=size.open_matches, most_rounds=size.most_rounds)
    context = ScenarioContext(site, workload)
    for name in [*context.apis, *context.workers]:
        site.hosts[name].is_kept = True
    site.keep_hosts()
    site.until(lambda: all(map(site.answers, context.apis)), "an answer of every API host")
    workload.play_until(lambda: len({ask.host for ask in bots.notebook.asks}) == size.workers, "all workers at work")
    return workload


def _shift_clocks(folder: Path, report: HostsReport) -> dict[str, dict[str, str]]:
    try:
        library = build_library(folder)
    except NoShift as error:
        report.not_tested.append(f"clocks that differ: {error}")
        return {}
    return {name: shift_settings(library, seconds) for name, seconds in SHIFTS_S.items()}


def _run_scenario(name: str, context: ScenarioContext, report: HostsReport) -> Window:
    print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
    context.workload.play(WARM_UP_S)
    refused, began = context.workload.client.refused, time.monotonic()
    try:
        SCENARIOS[name](context)
    except ScenarioNotTested as error:
        report.not_tested.append(f"{name}: {error}")
    return Window(name, began, time.monotonic(), context.workload.client.refused - refused, "; ".join(context.notes))


def _judge(report: HostsReport, windows: Sequence[Window], workload: Workload) -> None:
    notebook, client = workload.bots.notebook, workload.client
    asks = notebook.all_asks()
    report.windows = [measure_window(window, notebook, time.monotonic()) for window in windows]
    report.findings = check_invariants(collect_evidence(workload.site, asks, client.match_ids, workload.rows))
    report.clocks_noticed = workload.site.find_hosts_that_logged("host_clock_differs")
    report.matches, report.asks, report.refused = len(client.match_ids), len(asks), client.refused
