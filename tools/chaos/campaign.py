"""Injure a service at random while matches are arranged through its API and played, then check every invariant."""

import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from referee.errors import Unavailable
from referee.matches.states import PLAYABLE
from tests.database import postgres
from tools.chaos import planted
from tools.chaos.bots import RandomBots
from tools.chaos.injuries import Injuries
from tools.chaos.invariants import Invariant, InvariantReport, check_invariants, collect_evidence
from tools.chaos.network import BOTS_HOST, DATABASE_HOST, Namespace
from tools.chaos.service import Client, Installation
from tools.chaos.standstills import Injury
from workers import queues

WORKERS, SCHEDULERS, BOTS = 3, 2, 4
OPEN_MATCHES = 12
LEFTOVERS_S = 120.0
NO_EXPIRY = -1  # as Redis says it
PATIENCE_S = 240.0  # limit for all matches to end after the last injury
TIME = {"budget_ms": 60_000, "bank_ms": 60_000}


@dataclass(frozen=True, slots=True)
class Report:
    """Hold what a campaign did and found."""

    injuries: list[Injury]
    findings: dict[Invariant, InvariantReport]
    bots: RandomBots
    claims: Counter[int]  # matches by number of claims
    ended_after_s: float  # from the last injury to the end of the last match
    has_namespace: bool
    has_fault_acted: bool  # whether a process reached the planted fault
    finished_far: int  # matches that the worker in the network namespace finished
    failed: Counter[str]  # processes that ended with an error, by kind
    unanswered: int  # requests to the API that had to be repeated
    duration_s: float


class Campaign:
    """Run one campaign. The seed determines which injuries occur, but their effects also depend on timing."""

    def __init__(
        self,
        service: Installation,
        bots: RandomBots,
        seed: int,
        *,
        longest_freeze_s: float,
        open_matches: int = OPEN_MATCHES,
        namespace: Namespace | None = None,
    ) -> None:
        self.service = service
        self.open_matches = open_matches
        self.bots = bots
        self.namespace = namespace
        self.rng = Random(seed)
        self.injuries = Injuries(service, self.rng, longest_freeze_s=longest_freeze_s, namespace=namespace)
        self.log: list[Injury] = []
        self.rows: dict[str, list[bytes]] = {}

    def run(self, count: int) -> Report:
        """Injure ``count`` times, wait until all matches have ended, and check the outcome."""
        began = time.monotonic()
        self._prepare()
        for _ in range(count):
            self._keep_going()
            time.sleep(self.rng.uniform(0.1, 1.2))
            self._injure()
        self.injuries.wait_for_healers()
        healed = time.monotonic()
        try:
            self.service.until(self._all_ended, "the end of all matches", PATIENCE_S)
        except AssertionError as error:  # matches that do not end break an invariant
            print(error)
        return self._report(began, time.monotonic() - healed)

    def look_for_leftovers(self) -> InvariantReport:
        """Wake runners and wait until all jobs in Redis expire, because one that does not would be kept forever."""
        client = self.service.client()
        queues.wake(client)

        def find_leftovers() -> list[Any]:
            return [key for key in client.keys("rq:job:*") if client.ttl(key) == NO_EXPIRY]

        def is_clean() -> bool:
            self._restart_dead()
            return not find_leftovers()

        with suppress(AssertionError):
            self.service.until(is_clean, "a queue without leftovers", LEFTOVERS_S)
        return InvariantReport(1, [f"{key!r}: {_describe_job(client, key)}" for key in find_leftovers()])

    # -- between injuries --

    def _prepare(self) -> None:
        self.service.redis()
        host = BOTS_HOST if self.namespace else "127.0.0.1"
        for number in range(BOTS):
            self.service.enlist(self.bots.serve_random(latency_ms=5 + 10 * number, host=host))
        self.client: Client = self.service.create_organiser()
        self._restart_dead()
        self.service.until(self.client.is_served, "an answer of the API")

    def _injure(self) -> None:
        kind = self.rng.choice(list(self.injuries.kinds))
        if kind == "kill everything" and self.rng.random() < 0.5:
            kind = "kill horse"
        self.log.append(Injury(kind, time.monotonic()))
        print(f"{time.strftime('%H:%M:%S')} {len(self.log)} {kind}", flush=True)
        try:
            self.injuries.kinds[kind]()
        except Unavailable as error:  # the database was too badly injured for this one
            print(f"not done: {error}", flush=True)

    def _keep_going(self) -> None:
        try:
            self._restart_dead()
            self._arrange()
            self._keep_rows()
        except Unavailable as error:
            print(f"database: {error}", flush=True)

    def _restart_dead(self) -> None:
        """Start replacements of processes that died, as a supervisor does."""
        service = self.service
        if service.redis_server is None or not service.redis_server.alive:
            service.redis()
        while len(service.alive("scheduler")) < SCHEDULERS:
            service.scheduler()
        if not service.alive("api"):
            service.api()
        while len(service.alive("worker")) < WORKERS:
            service.worker()
        if self.namespace and not service.alive("distant-worker"):
            service.distant_worker(self.namespace)

    def _arrange(self) -> None:
        statuses = self.service.statuses()
        open_now = sum(statuses.get(status, 0) for status in PLAYABLE) + self.client.waiting
        for _ in range(self.open_matches - open_now):
            seats = self.rng.sample(self.service.bot_ids, self.rng.randint(2, BOTS))
            new_match: dict[str, Any] = {"game": self.rng.choice(["pool-nap", "saint-poker"]), "bots": seats}
            self.client.arrange(
                new_match | {"options": {"rounds": self.rng.randint(1, 4)}, "rated": True, "time": TIME}
            )
        self.client.send_waiting()

    def _keep_rows(self) -> None:
        """Note recorded rows, for a comparison with the final logs."""
        for match_id in self.client.match_ids[-2 * self.open_matches :]:
            self.rows[match_id] = max(self.service.lines(match_id), self.rows.get(match_id, []), key=len)

    def _all_ended(self) -> bool:
        try:
            self._restart_dead()
            self.client.send_waiting()
            statuses = self.service.statuses()
        except Unavailable:
            return False
        return not self.client.waiting and not any(statuses.get(status) for status in PLAYABLE)

    def _report(self, began: float, ended_after_s: float) -> Report:
        asks, client = self.bots.notebook.all_asks(), self.client
        evidence = collect_evidence(self.service, asks, client.match_ids, self.rows)
        return Report(
            injuries=self.log,
            findings=check_invariants(evidence),
            bots=self.bots,
            claims=Counter(match.epoch for match in evidence.matches.values()),
            ended_after_s=ended_after_s,
            has_namespace=self.namespace is not None,
            has_fault_acted=self.service.has_fault_acted(),
            finished_far=self.service.count_finished("distant-worker"),
            failed=self.service.count_failed(),
            unanswered=client.refused,
            duration_s=time.monotonic() - began,
        )


def _describe_job(client: Any, key: Any) -> str:
    """Return what Redis has of a job, except its arguments, and in how many seconds it expires."""
    fields = client.hgetall(key) if client.type(key) == b"hash" else {}
    return str({name: value for name, value in fields.items() if name != b"data"}) + f" ({client.ttl(key)} s)"


def run_campaign(
    injuries: int,
    seed: int,
    folder: Path,
    *,
    longest_freeze_s: float = 20.0,
    open_matches: int = OPEN_MATCHES,
    server: postgres.Server | None = None,
    namespace: Namespace | None = None,
    fault: str = "",
    thorough: bool = False,
) -> Report:
    """Start a service in ``folder`` and run a campaign. A ``thorough`` campaign also looks for leftovers in Redis."""
    with ExitStack() as stack:
        bots = stack.enter_context(RandomBots(seed))
        service = stack.enter_context(Installation(folder, server, fault=fault))
        if namespace is not None:
            assert server is not None
            service.allow_network(server.url_by_tcp("postgres", DATABASE_HOST), BOTS_HOST)
        if fault == "no unique result":
            planted.allow_two_results(service.database)
        campaign = Campaign(
            *(service, bots, seed),
            longest_freeze_s=longest_freeze_s,
            open_matches=open_matches,
            namespace=namespace,
        )
        report = campaign.run(injuries)
        if thorough:
            report.findings[Invariant.NO_LEFTOVERS] = campaign.look_for_leftovers()
        return report
