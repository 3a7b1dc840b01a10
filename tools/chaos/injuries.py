"""Injure the processes of a service and what they depend on. ``Campaign`` decides which injury comes when."""

import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Sequence
from random import Random

from redis.exceptions import RedisError
from sqlalchemy import text

from referee.errors import Unavailable
from tests.database import postgres
from tests.end_to_end.processes import Process, children, gone, send
from tools.chaos.network import Namespace
from tools.chaos.service import Installation

HOUR_S = 3600.0


class Injuries:
    """Offer injuries by kind. All choices come from ``rng``; what they hit also depends on timing.

    ``longest_freeze_s`` limits freezes and cuts of the network; those of more than 15 s outlast a lease.
    """

    def __init__(
        self, service: Installation, rng: Random, *, longest_freeze_s: float, namespace: Namespace | None = None
    ) -> None:
        self.service = service
        self.rng = rng
        self.terminated: list[Process] = []
        self._longest_freeze_s = longest_freeze_s
        self._healers: list[threading.Timer] = []  # timers, because a frozen process may hold a lock that blocks us
        self.kinds: dict[str, Callable[[], object]] = {
            "kill worker and horse": lambda: self._pick("worker", self._kill_both),
            "kill worker": lambda: self._pick("worker", Process.kill),
            "kill horse": self._kill_horse,
            "terminate horse": lambda: self._signal_horse(signal.SIGTERM),
            "terminate worker": lambda: self._pick("worker", self._terminate_worker),
            "freeze worker and horse": lambda: self._pick("worker", self._freeze_both),
            "freeze horse": self._freeze_horse,
            "kill scheduler": lambda: self._pick("scheduler", Process.kill),
            "terminate scheduler": lambda: self._pick("scheduler", lambda process: process.send(signal.SIGTERM)),
            "freeze scheduler": lambda: self._pick("scheduler", lambda process: self._freeze([process.pid])),
            "kill api": lambda: self._pick("api", service.kill_api),
            "kill api worker": lambda: self._pick("api", self._kill_api_worker),
            "terminate api": lambda: self._pick("api", lambda process: process.send(signal.SIGTERM)),
            "freeze api": lambda: self._pick(
                "api", lambda process: self._freeze([process.pid, *children(process.pid)])
            ),
            "kill redis": self._kill_redis,
            "freeze redis": self._freeze_redis,
            "empty redis": self._empty_redis,
            "lock database": self._lock_database,
            "fill disk": self._fill_disk,
            "jump clock": self._jump_clock,
            "kill everything": service.kill_everything,
        }
        if service.server is not None:
            self._add_postgres(service.server)
        if namespace is not None:
            self.kinds["cut network"] = lambda: self._cut(namespace)

    def _add_postgres(self, server: postgres.Server) -> None:
        self.kinds |= {
            "end all sessions": self._end_sessions,
            "kill backend": lambda: self._kill_backend(server),
            "freeze backend": lambda: self._freeze([self.rng.choice(server.backends() or [0])]),
            "kill database": lambda: self._restart_database(server, server.kill),
            "stop database fast": lambda: self._restart_database(server, server.stop),
            "pause database": lambda: self._pause_database(server),
        }

    def wait_for_healers(self) -> None:
        """Wait until everything that was frozen, cut or filled is whole again, and terminated workers have ended."""
        for healer in self._healers:
            healer.join()
        self.service.until(lambda: not any(worker.alive for worker in self.terminated), "the end of terminated workers")
        self.service.jump_clock(0.0)

    # -- processes --

    def _pick(self, kind: str, injure: Callable[[Process], object]) -> None:
        if found := self.service.alive(kind):
            injure(self.rng.choice(found))

    def _kill_both(self, worker: Process) -> None:
        horse = worker.horse
        if horse:
            send(horse, signal.SIGKILL)
        worker.kill()

    def _kill_horse(self) -> None:
        self._signal_horse(signal.SIGKILL)

    def _signal_horse(self, number: signal.Signals) -> None:
        horses = [horse for worker in self.service.workers if (horse := worker.horse)]
        if horses:
            send(self.rng.choice(horses), number)

    def _terminate_worker(self, worker: Process) -> None:
        worker.send(signal.SIGTERM)
        self.terminated.append(worker)

    def _freeze_both(self, worker: Process) -> None:
        self._freeze([worker.pid, *([worker.horse] if worker.horse else [])])

    def _freeze_horse(self) -> None:
        horses = [horse for worker in self.service.workers if (horse := worker.horse)]
        if horses:
            self._freeze([self.rng.choice(horses)])

    def _kill_api_worker(self, api: Process) -> None:
        if workers := children(api.pid):
            send(self.rng.choice(workers), signal.SIGKILL)

    def _freeze(self, pids: Sequence[int]) -> None:
        """Stop these processes for a random time."""
        pids = [pid for pid in pids if pid]
        for pid in pids:
            send(pid, signal.SIGSTOP)
        self._heal_later(lambda: _wake(pids), self._longest_freeze_s)

    def _heal_later(self, heal: Callable[[], object], longest_s: float) -> None:
        healer = threading.Timer(self.rng.uniform(0.5, longest_s), heal)
        healer.start()
        self._healers.append(healer)

    # -- what they depend on --

    def _kill_redis(self) -> None:
        server = self.service.redis_server
        assert server is not None
        server.kill()
        time.sleep(self.rng.uniform(0, 3))

    def _freeze_redis(self) -> None:
        server = self.service.redis_server
        if server is not None and server.alive:
            self._freeze([server.pid])

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

    def _fill_disk(self) -> None:
        """Let every write to a file fail for a while: the limit on file sizes stands in for a full disk."""
        server = self.service.server
        for pid in server.backends() if server else self.service.all_pids():
            _limit_files(pid, 0)
        time.sleep(self.rng.uniform(0.2, 3))
        for _ in range(2):  # a child forked meanwhile has the limit of its parent
            for pid in self.service.all_pids():
                _limit_files(pid, resource.RLIM_INFINITY)
        if server:
            self._wait_for_database()

    def _jump_clock(self) -> None:
        self.service.jump_clock(self.rng.choice([-HOUR_S, HOUR_S, 0.0]))

    def _end_sessions(self) -> None:
        with self.service.database.write() as session:
            others = "datname = current_database() AND pid <> pg_backend_pid()"
            session.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))

    def _kill_backend(self, server: postgres.Server) -> None:
        """Kill a process of the server, as the kernel does when memory runs out. The server then ends all sessions."""
        backends = server.backends()
        if backends:
            os.kill(self.rng.choice(backends), signal.SIGKILL)
            for pid in backends:
                send(pid, signal.SIGCONT)  # a frozen one could not end
            self.service.until(lambda: all(gone(pid) for pid in backends), "the end of all sessions")
        self._wait_for_database()

    def _restart_database(self, server: postgres.Server, end: Callable[[], None]) -> None:
        for pid in server.backends():
            send(pid, signal.SIGCONT)
        end()
        time.sleep(self.rng.uniform(0, 3))
        server.start()
        self._wait_for_database()

    def _pause_database(self, server: postgres.Server) -> None:
        pids = [server.pid, *children(server.pid)]
        for pid in pids:
            send(pid, signal.SIGSTOP)
        time.sleep(self.rng.uniform(0.5, 5))
        for pid in pids:
            send(pid, signal.SIGCONT)

    def _wait_for_database(self) -> None:
        self.service.until(self._database_answers, "an answer of the database")

    def _database_answers(self) -> bool:
        try:
            return bool(self.service.statuses())
        except Unavailable:
            return False

    def _cut(self, namespace: Namespace) -> None:
        namespace.cut()
        self._heal_later(namespace.heal, self._longest_freeze_s)


def _wake(pids: Sequence[int]) -> None:
    for pid in pids:
        send(pid, signal.SIGCONT)


def _limit_files(pid: int, size: int) -> None:
    try:
        _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(
            pid, resource.RLIMIT_FSIZE, (size if most == resource.RLIM_INFINITY else min(size, most), most)
        )
    except (ProcessLookupError, PermissionError):
        return
