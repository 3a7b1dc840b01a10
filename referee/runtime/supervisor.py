"""Supervise the processes of a service: start them in order, restart those that die, and stop them all."""

import http.client
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from referee.errors import RefereeError
from referee.runtime import embedded_redis as embedded
from referee.runtime.data_dir import DataDir
from referee.runtime.process_logs import ProcessLogs
from referee.runtime.processes import Child, Signals, stop

READY_S = 60.0
REDIS_READY_S = 20.0
DEATHS_BEFORE_READY = 3  # start-up fails if a child dies this often before the service is ready
STOP_S = 8.0
REDIS_STOP_S = 5.0
API_THREADS = 64


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
    signals: Signals = field(default_factory=Signals, init=False)
    redis: Child | None = field(default=None, init=False)
    children: list[Child] = field(default_factory=list, init=False)
    logs: ProcessLogs = field(init=False)

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
        if embedded.shut_down_orphan(path, self.signals.wait):
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
            stop([self.redis], REDIS_STOP_S, self.signals)
            self.redis.deaths = 0
            self.redis.start()
            self._wait_for_redis(path)

    def _wait_for_redis(self, path: Path) -> None:
        self._wait(lambda: embedded.is_answering(path), REDIS_READY_S, "The embedded Redis server does not answer.")

    def _start_service(self) -> None:
        self.children = [
            self._python("api", *self._gunicorn(), pass_fds=(self.listener.fileno(),)),
            *(self._python(name, "-m", "workers.worker") for name in self._workers()),
            self._python("scheduler", "-m", "workers.scheduler"),
        ]
        for child in self.children:
            child.start()
        self._wait(self._answers, READY_S, "The service does not answer at /readyz.")

    def _workers(self) -> list[str]:
        return [f"worker-{number}" for number in range(1, self.workers + 1)]

    def _python(self, name: str, *arguments: str, pass_fds: tuple[int, ...] = ()) -> Child:
        # -P prevents importing files from the current folder as part of the service.
        return Child(
            name,
            [sys.executable, "-P", *arguments],
            self.environment,
            self.data_dir.path,
            self.data_dir.log(name),
            pass_fds,
            self.logs.output(name),
        )

    def _gunicorn(self) -> list[str]:
        return [
            *("-m", "gunicorn", "api.wsgi:app"),
            *("--bind", f"fd://{self.listener.fileno()}"),
            *("--worker-class", "api.gunicorn_worker.TimeoutWorker"),
            *("--workers", "1", "--threads", str(API_THREADS)),
            *("--keep-alive", "5", "--graceful-timeout", "5", "--no-control-socket"),
            *("--log-level", "warning"),
        ]

    def _wait(self, is_met: Callable[[], bool], limit_s: float, complaint: str) -> None:
        """Watch the processes until ``is_met``. Raise ``StartFailed`` if that takes too long or a child keeps dying."""
        end = time.monotonic() + limit_s
        while not is_met():
            if self.signals.stop_requests:
                raise Stopped
            pause_s = self._watch()
            failed = [child for child in self._all() if child.deaths >= DEATHS_BEFORE_READY]
            if failed or time.monotonic() > end:
                self.logs.settle()
                raise StartFailed("\n".join([complaint, *map(_describe, failed or self._all())]))
            self.signals.wait(min(pause_s, 0.1))

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(*self._address(), timeout=1.0)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

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
            self.say(f"had to kill {', '.join(killed)}; their work is resumed at the next start")


def _describe(child: Child) -> str:
    state = "running" if child.process is not None else "exited"
    return f"--- {child.name} ({state}), end of {child.log}\n{child.tail() or '(empty)'}"
