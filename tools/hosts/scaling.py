"""Measure throughput with a growing number of worker hosts whose slots are capped, and the database work of a match.

The bots take 200 ms for an answer, so a host is limited by its slots and not by the processors, which all hosts share.
"""

import re
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import psycopg

from tools.chaos.bots import RandomBots
from tools.hosts.campaign import Size, start_database
from tools.hosts.lan import Lan
from tools.hosts.service import DistributedService

HOSTS: Final = (1, 2, 3)
SLOTS, LATENCY_MS, BOTS = 8, 200, 4
MATCHES_PER_HOST, ROUNDS = 24, 2
PROPORTIONAL = 0.75  # of the throughput of one host, multiplied
_STATEMENT = re.compile(rb"LOG:  (?:statement|execute [^:]*): (?!SELECT 1\b)")


@dataclass(frozen=True, slots=True)
class Measurement:
    """Hold what was measured with a number of hosts."""

    hosts: int
    matches: int
    seconds: float
    asks: int
    statements: int
    transactions: int

    @property
    def matches_per_s(self) -> float:
        return self.matches / self.seconds


@dataclass(frozen=True, slots=True)
class Scaling:
    """Hold the measurements, the smallest number of hosts first."""

    measurements: list[Measurement]

    @property
    def is_proportional(self) -> bool:
        first, last = self.measurements[0], self.measurements[-1]
        return last.matches_per_s >= PROPORTIONAL * first.matches_per_s * last.hosts / first.hosts

    def render(self) -> str:
        first = self.measurements[0].matches_per_s
        lines = [
            f"bots of {LATENCY_MS} ms, {SLOTS} slots a host",
            "worker hosts  matches  seconds  matches/s  times  questions/s  statements/match  transactions/match",
        ]
        for found in self.measurements:
            lines.append(
                f"{found.hosts:12}  {found.matches:7}  {found.seconds:7.1f}  {found.matches_per_s:9.2f}"
                f"  {found.matches_per_s / first:5.2f}  {found.asks / found.seconds:11.1f}"
                f"  {found.statements / found.matches:16.1f}  {found.transactions / found.matches:18.1f}"
            )
        return "\n".join(lines)


def measure_scaling(seed: int, folder: Path) -> Scaling:
    return Scaling([_measure(hosts, seed, folder / str(hosts)) for hosts in HOSTS])


def _measure(hosts: int, seed: int, folder: Path) -> Measurement:
    """Play matches, all arranged before the first worker host starts, on this number of worker hosts."""
    print(f"{time.strftime('%H:%M:%S')} {hosts} worker hosts", flush=True)
    folder.mkdir(mode=0o700)
    size = Size(apis=1, workers=hosts)
    with ExitStack() as stack:
        lan = stack.enter_context(Lan(size.names))
        server = start_database(stack, lan, log_statement="all")
        bots = stack.enter_context(RandomBots(seed))
        slots = {name: {"REFEREE_RUNNER_SLOTS": str(SLOTS)} for name in size.names}
        site = stack.enter_context(DistributedService(folder, lan, server, slots))
        site.redis()
        for _ in range(BOTS):
            site.enlist(bots.serve_random(latency_ms=LATENCY_MS, host=lan.bots_address))
        rng = Random(seed)
        match_ids = [_arrange(site, rng) for _ in range(MATCHES_PER_HOST * hosts)]
        before = _count_statements(server.directory / "server.log"), _count_transactions(server.url("postgres"))
        site.start_host("api1")
        for name in site.names_of("worker"):
            site.start_host(name)
        site.until_finished(match_ids, 300)
        asks = bots.notebook.all_asks()
        statements = _count_statements(server.directory / "server.log") - before[0]
        transactions = _count_transactions(server.url("postgres")) - before[1]
    seconds = max(bots.notebook.ended.values()) - asks[0].at
    return Measurement(hosts, len(match_ids), seconds, len(asks), statements, transactions)


def _arrange(site: DistributedService, rng: Random) -> str:
    return site.arrange("pool-nap", rng.sample(site.bot_ids, 2), options={"rounds": ROUNDS}, rated=True)


def _count_statements(log: Path) -> int:
    return len(_STATEMENT.findall(log.read_bytes()))


def _count_transactions(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'").fetchone()
    assert found is not None
    return int(found[0])
