"""Kill and suspend processes at random while matches are played, then check that every match ended correctly.

``python -m tools.chaos [--seconds S] [--seed N] [--postgres]`` prints its seed, every fault, and the outcome.
"""

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from random import Random, SystemRandom

from redis.exceptions import RedisError
from sqlalchemy import text

from referee.errors import Unavailable
from referee.matches.states import PLAYABLE
from tests.database import postgres
from tests.end_to_end.bots import Bots
from tests.end_to_end.processes import Process, gone, send
from tests.end_to_end.service import Service

WORKERS = 2
BOTS = (
    "random",
    "random",
    "random",
    "sound",
)  # `random` answers a repeated question differently, so lost answers become visible
OPEN_MATCHES = 12
PATIENCE_S = 240.0  # limit for all matches to end after the last fault


class Campaign:
    """Run one campaign. The seed determines which faults occur and when, but their effects also depend on timing."""

    def __init__(
        self,
        service: Service,
        bots: Bots,
        seed: int,
        *,
        longest_stop_s: float = 20.0,
        server: postgres.Server | None = None,
    ) -> None:
        self.service = service
        self.server = server
        self.bots = bots
        self.rng = Random(seed)
        self.match_ids: list[str] = []
        self.counts: Counter[str] = Counter()
        self.rows: dict[str, list[bytes]] = {}
        self._terminated: list[Process] = []
        self._longest_stop_s = longest_stop_s
        self._wakers: list[
            threading.Timer
        ] = []  # timers, because a suspended process may hold a lock that blocks this one
        self._faults = {
            "kill worker and horse": self._kill_both,
            "kill worker": lambda: self._worker().kill(),
            "kill horse": self._kill_horse,
            "stop worker and horse": self._stop,
            "terminate a worker": self._terminate_worker,
            "kill scheduler": self._kill_scheduler,
            "kill redis": self._kill_redis,
            "empty redis": self._empty_redis,
            "lock the database": self._lock_database,
            "kill everything": service.kill_everything,
        }
        if server is not None:
            self._faults |= {
                "end all sessions": self._end_sessions,
                "kill a session's process": lambda: self._kill_backend(server),
                "kill the database": lambda: self._kill_database(server),
            }

    def run(self, seconds: float) -> None:
        """Cause faults for this many seconds, wait until all matches have ended, and check the outcome."""
        service = self.service
        service.redis()
        for index, name in enumerate(BOTS):
            service.enlist(self.bots.serve(name, latency_ms=5 + 10 * index))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._restart_dead()
            self._arrange()
            time.sleep(self.rng.uniform(0.2, 1.5))
            self._cause_fault()
            self._check_rows()
        for waker in self._wakers:
            waker.join()
        ended = time.monotonic()
        service.until(lambda: not any(worker.alive for worker in self._terminated), "the end of all terminated workers")
        service.until(self._all_ended, "the end of all matches", PATIENCE_S)
        print(f"{len(self.match_ids)} matches, all ended {time.monotonic() - ended:.0f} s after the last fault")
        self._check_outcome()

    def look_for_leftovers(self) -> None:
        """Check that no wake-up job remains in Redis, because it would block its place in the queue forever."""
        client = self.service.client()

        def clean() -> bool:
            self._restart_dead()
            return not client.keys("rq:job:*")

        began = time.monotonic()
        self.service.until(clean, f"a queue without leftovers: {client.keys('rq:*')}", PATIENCE_S)
        print(f"the queue was clean {time.monotonic() - began:.0f} s later")

    def _cause_fault(self) -> None:
        name = self.rng.choice(list(self._faults))
        if name == "kill everything" and self.rng.random() < 0.5:
            return
        self.counts[name] += 1
        print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
        self._faults[name]()

    def _restart_dead(self) -> None:
        """Start replacements of processes that died, as a supervisor does."""
        service = self.service
        if service.redis_server is None or not service.redis_server.alive:
            service.redis()
        if not any(process.alive for process in service.processes if process.name.startswith("scheduler")):
            service.scheduler()
        while len(service.workers) < WORKERS:
            service.worker()

    def _arrange(self) -> None:
        statuses = self.service.statuses()
        for _ in range(OPEN_MATCHES - statuses.get("due", 0) - statuses.get("running", 0)):
            game = self.rng.choice(["pool-nap", "saint-poker"])
            seats = self.rng.sample(self.service.bot_ids, self.rng.randint(2, len(BOTS)))
            self.match_ids.append(self.service.arrange(game, seats, options={"rounds": self.rng.randint(1, 4)}))

    def _all_ended(self) -> bool:
        self._restart_dead()
        statuses = self.service.statuses()
        return not any(statuses.get(status) for status in PLAYABLE)

    def _check_rows(self) -> None:
        """Check that recorded rows do not change and that new rows are only appended."""
        for match_id in self.match_ids[-2 * OPEN_MATCHES :]:
            lines = self.service.lines(match_id)
            before = self.rows.get(match_id, [])
            assert lines[: len(before)] == before, match_id
            self.rows[match_id] = lines

    def _check_outcome(self) -> None:
        self.service.check_all(self.match_ids)
        bodies = {(question.id, question.body) for question in self.bots.desk.asked}
        asked = {question.id for question in self.bots.desk.asked}
        print(f"{len(self.bots.desk.asked)} questions, {len(asked)} of them different; faults: {dict(self.counts)}")
        epochs = Counter(self.service.match(match_id).epoch for match_id in self.match_ids)
        print(f"matches by number of claims: {dict(sorted(epochs.items()))}")
        assert len(bodies) == len(asked), "a repeated question differs from the first"
        assert self.bots.desk.trouble == []

    # -- faults --

    def _worker(self) -> Process:
        return self.rng.choice(self.service.workers)

    def _kill_both(self) -> None:
        worker = self._worker()
        horse = worker.horse
        if horse:
            send(horse, signal.SIGKILL)
        worker.kill()

    def _terminate_worker(self) -> None:
        worker = self._worker()
        worker.send(signal.SIGTERM)
        self._terminated.append(worker)

    def _kill_horse(self) -> None:
        horse = self._worker().horse
        if horse:
            send(horse, signal.SIGKILL)

    def _stop(self) -> None:
        worker = self._worker()
        pids = [worker.pid, *([worker.horse] if worker.horse else [])]
        for pid in pids:
            send(pid, signal.SIGSTOP)
        waker = threading.Timer(self.rng.uniform(0.5, self._longest_stop_s), _wake, [pids])
        waker.start()
        self._wakers.append(waker)

    def _kill_scheduler(self) -> None:
        for process in self.service.processes:
            if process.name.startswith("scheduler") and process.alive:
                process.kill()

    def _kill_redis(self) -> None:
        server = self.service.redis_server
        assert server is not None
        server.kill()
        time.sleep(self.rng.uniform(0, 4))

    def _empty_redis(self) -> None:
        try:
            self.service.client().flushall()
        except RedisError as error:
            print(f"not emptied: {error}")

    def _lock_database(self) -> None:
        seconds = self.rng.uniform(0.1, 6)
        if self.service.database.is_sqlite:
            with self.service.writing_by_hand():
                time.sleep(seconds)
            return
        with self.service.database.write(idle_s=60) as session:
            session.execute(text("LOCK TABLE matches IN EXCLUSIVE MODE"))
            time.sleep(seconds)

    def _end_sessions(self) -> None:
        with self.service.database.write() as session:
            others = "datname = current_database() AND pid <> pg_backend_pid()"
            session.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))

    def _kill_backend(self, server: postgres.Server) -> None:
        """Kill a process of the server, as the kernel does when memory runs out. The server then ends all sessions."""
        backends = server.backends()
        os.kill(self.rng.choice(backends), signal.SIGKILL)
        self.service.until(lambda: all(gone(pid) for pid in backends), "the end of all sessions")
        self.service.until(self._database_answers, "an answer of the database after its recovery")

    def _kill_database(self, server: postgres.Server) -> None:
        server.kill()
        time.sleep(self.rng.uniform(0, 4))
        server.start()
        self.service.until(self._database_answers, "an answer of the database after its restart")

    def _database_answers(self) -> bool:
        try:
            return bool(self.service.statuses())
        except Unavailable:
            return False


def _wake(pids: list[int]) -> None:
    for pid in pids:
        send(pid, signal.SIGCONT)


def campaign(
    seconds: float,
    seed: int,
    folder: Path,
    *,
    longest_stop_s: float = 20.0,
    server: postgres.Server | None = None,
    thorough: bool = False,
) -> None:
    """Start a service in ``folder`` and run a campaign. A ``thorough`` campaign also looks for leftovers in Redis."""
    print(f"seed {seed}", flush=True)
    with Bots() as bots, Service(folder, server.url("postgres") if server else "") as service:
        run = Campaign(service, bots, seed, longest_stop_s=longest_stop_s, server=server)
        run.run(seconds)
        if thorough:
            run.look_for_leftovers()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="Duration of the faults, in seconds.")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6), help="Seed of all random choices.")
    parser.add_argument(
        "--postgres", action="store_true", help="Start a PostgreSQL server and use it instead of SQLite."
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="chaos") as folder, ExitStack() as stack:
        server = stack.enter_context(postgres.server()) if options.postgres else None
        campaign(options.seconds, options.seed, Path(folder), server=server, thorough=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
