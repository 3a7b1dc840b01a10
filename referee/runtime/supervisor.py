"""Supervise the processes of a service: start them in order, restart those that die, and stop them all.

This process imports the modules of all of them once, and they are forked from it.
"""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from referee.errors import RefereeError
from referee.runtime import embedded_redis as embedded
from referee.runtime import forked_process
from referee.runtime.data_dir import DataDir
from referee.runtime.process_logs import ProcessLogs
from referee.runtime.processes import Child, Signals, stop
from referee.runtime.readiness_probe import ReadinessProbe
from referee.runtime.waiting import WaitReporter

EXITS_BEFORE_READY = 3  # start-up fails if a child exits this often before the service is ready
STOP_S = 8.0
REDIS_STOP_S = 5.0
API_THREADS = 64
API, WORKER, SCHEDULER = "gunicorn.app.wsgiapp:run", "workers.worker:main", "workers.scheduler:main"
PRELOADED = (API, "api.app", "api.gunicorn_worker", WORKER, SCHEDULER)


class StartFailed(RefereeError):
    """Signal that the service did not start. The message contains the last log lines of the processes that failed."""


class Stopped(Exception):  # no RefereeError, because it is not an error
    """Signal that this process was requested to stop."""


@dataclass(slots=True)
class Supervisor:
    """Run one service in one data directory until a stop signal."""

    data_dir: DataDir
    environment: dict[str, str]
    listener: socket.socket
    workers: int
    say: Callable[[str], None]  # prints a message
    embedded_redis: bool
    seconds: Callable[[], float] = time.monotonic
    signals: Signals = field(default_factory=Signals, init=False)
    redis: Child | None = field(default=None, init=False)
    children: list[Child] = field(default_factory=list, init=False)
    logs: ProcessLogs = field(init=False)
    is_ready: bool = field(default=False, init=False)

    def run(self, ready: Callable[[], None]) -> None:
        """Start all processes, call ``ready`` once the service answers, and watch them. Stop them all at the end."""
        names = [*["redis"] * self.embedded_redis, "api", *self._workers(), "scheduler"]
        self.logs = ProcessLogs(self.data_dir.log("api").parent, names)
        with self.signals:
            try:
                self.logs.watch()
                if self.embedded_redis:
                    self._start_redis()
                self._start_service()
                self.is_ready = True
                ready()
                while not self.signals.stop_requests:
                    self.signals.wait(self._watch())
            except Stopped:
                pass
            finally:
                self._stop()
                self.logs.stop()

    # -- starting --

    def _start_redis(self) -> None:
        """Start the embedded Redis. Set aside data that it cannot read; the database does not depend on that data."""
        path = self.data_dir.socket()
        if embedded.request_orphan_shutdown(path):
            orphan = f"a Redis server that an earlier run has left running on {path} has not shut down yet"
            self._wait(lambda: orphan if embedded.is_socket_in_use(path) else "")
            self.say("shut down a Redis server that an earlier run had left running; its data is kept")
        self.redis = embedded.create_child(self.data_dir, self.environment, self.logs.output("redis"))
        self.redis.start()
        try:
            self._wait_for_redis(path)
        except StartFailed as error:
            aside = embedded.set_data_aside(self.redis)
            if aside is None:
                raise
            self.say(f"{error}\nIts data was moved to {aside}; it contains no results.")
            self.redis.deaths = self.redis.exits = 0
            self.redis.start()
            self._wait_for_redis(path)

    def _wait_for_redis(self, path: Path) -> None:
        redis = self.redis
        assert redis is not None
        self._wait(lambda: "" if embedded.is_answering(path) else _describe_wait(redis, "no answer yet"))

    def _start_service(self) -> None:
        forked_process.preload(PRELOADED)
        self.children = self._create_children()
        for child in self.children:
            child.start()
        api, probe = self.children[0], ReadinessProbe(*self._address())
        try:
            self._wait(lambda: (missing := probe.find_missing()) and _describe_wait(api, missing))
        finally:
            probe.close()

    def _create_children(self) -> list[Child]:
        return [
            self._child("api", API, *self._gunicorn(), pass_fds=(self.listener.fileno(),)),
            *(self._child(name, WORKER) for name in self._workers()),
            self._child("scheduler", SCHEDULER),
        ]

    def _workers(self) -> list[str]:
        return [f"worker-{number}" for number in range(1, self.workers + 1)]

    def _child(self, name: str, *command: str, pass_fds: tuple[int, ...] = ()) -> Child:
        return Child(
            name,
            command,
            self.environment,
            self.data_dir.path,
            self.data_dir.log(name),
            pass_fds,
            self.logs.output(name),
            forked=True,
        )

    def _gunicorn(self) -> list[str]:
        return [
            "api.wsgi:app",
            *("--bind", f"fd://{self.listener.fileno()}"),
            *("--worker-class", "api.gunicorn_worker.TimeoutWorker"),
            *("--workers", "1", "--threads", str(API_THREADS)),
            *("--keep-alive", "5", "--graceful-timeout", "5", "--no-control-socket"),
            *("--log-level", "warning"),
        ]

    def _wait(self, find_missing: Callable[[], str]) -> None:
        """Watch the processes until nothing is missing, however long that takes, and say what is missing.

        Raise ``StartFailed`` if a child keeps exiting.
        """
        reporter = WaitReporter(self.say, self.seconds)
        while missing := find_missing():
            if self.signals.stop_requests:
                raise Stopped
            pause_s = self._watch()
            if failed := [child for child in self._all() if child.exits >= EXITS_BEFORE_READY]:
                names = ", ".join(child.name for child in failed)
                complaint = f"The service did not start: {names} exited {EXITS_BEFORE_READY} times."
                raise StartFailed("\n".join([complaint, *map(_describe_exit, failed)]))
            reporter.note(missing)
            self.signals.wait(min(pause_s, 0.1))

    def _address(self) -> tuple[str, int]:
        host, port = self.listener.getsockname()[:2]
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104  # compared, not bound

    # -- watching and stopping --

    def _all(self) -> list[Child]:
        return ([self.redis] if self.redis else []) + self.children

    def _watch(self) -> float:
        """Detect dead children and restart those that are due. Return the seconds until the next check is needed."""
        self.logs.watch()
        now = time.monotonic()
        pause_s = 5.0
        for child in self._all():
            if child.has_died():
                self.logs.settle()
                last_line = child.tail(1)[:200]
                self.say(f"{child.name} exited on its own, starting it again ({child.log}: {last_line or 'empty'})")
            if child.process is None and child.due <= now:
                child.start()
            elif child.process is None:
                pause_s = min(pause_s, child.due - now)
        return pause_s

    def _stop(self) -> None:
        """Stop all processes concurrently, but Redis last, because the others release their locks through it."""
        killed = stop(self.children, STOP_S, self.signals)
        if self.redis is not None:
            killed += stop([self.redis], REDIS_STOP_S, self.signals)
        if killed:
            after = "; their work is resumed at the next start" if self.is_ready else " before the service was ready"
            self.say(f"had to kill {', '.join(killed)}{after}")


def _describe_exit(child: Child) -> str:
    return f"--- {child.name} (exited), end of {child.log}\n{child.tail() or '(empty)'}"


def _describe_wait(child: Child, missing: str) -> str:
    """Return what is missing of a child, which process it is, and the last line that it wrote."""
    state = "to be restarted" if child.process is None else f"process {child.process.pid}"
    return f"{child.name} ({state}): {missing}; {child.log}: {child.tail(1)[:200] or 'empty'}"
