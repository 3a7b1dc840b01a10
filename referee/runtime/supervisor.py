"""The whole service under one roof: in what order its processes start, who is brought back, how all end."""

import http.client
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from referee.errors import RefereeError
from referee.runtime import embedded_redis as embedded
from referee.runtime.data_dir import DataDir
from referee.runtime.processes import Child, Signals, stop

READY_S = 60.0
REDIS_READY_S = 20.0
FALLS_BEFORE_READY = 3  # a child that dies so often before the service ever answered will not get better
STOP_S = 8.0
REDIS_STOP_S = 5.0
API_THREADS = 64


class NotUp(RefereeError):
    """The service does not come up; the text holds the last lines of whoever is to blame."""


class Stopped(Exception):  # a word, not an error
    """Somebody told us to stop while we were starting."""


class Say(Protocol):
    """Where the supervisor's remarks go."""

    def __call__(self, text: str) -> None: ...


@dataclass(slots=True)
class Supervisor:
    """Runs one service in one data directory; ``run`` returns when it was told to stop."""

    data_dir: DataDir
    environment: dict[str, str]
    listener: socket.socket
    workers: int
    say: Say
    embedded_redis: bool
    signals: Signals = field(default_factory=Signals, init=False)
    redis: Child | None = field(default=None, init=False)
    children: list[Child] = field(default_factory=list, init=False)

    def run(self, ready: Callable[[], None]) -> None:
        """Starts everything, calls ``ready`` once the service answers, watches, and stops it on every way out."""
        with self.signals:
            try:
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

    # -- coming up --

    def _start_redis(self) -> None:
        """Starts our own server; a file it cannot read is put aside, since the record does not depend on it."""
        path = self.data_dir.socket()
        if embedded.take_over(path, self.signals.wait):
            self.say("ended a Redis server that an earlier run had left behind; its file is carried on")
        self.redis = embedded.server(self.data_dir, self.environment)
        self.redis.start()
        try:
            self._wait_for_redis(path)
        except NotUp as error:
            aside = embedded.put_aside(self.redis)
            if aside is None:
                raise
            self.say(f"{error}\nits file is put aside as {aside}; nothing that counts is in it")
            stop([self.redis], REDIS_STOP_S, self.signals)
            self.redis.falls = 0
            self.redis.start()
            self._wait_for_redis(path)

    def _wait_for_redis(self, path: Path) -> None:
        self._wait(lambda: embedded.answers(path), REDIS_READY_S, "the embedded Redis server does not answer")

    def _start_service(self) -> None:
        self.children = [
            self._python("api", *self._gunicorn(), pass_fds=(self.listener.fileno(),)),
            *(self._python(f"worker-{n}", "-m", "workers.worker") for n in range(1, self.workers + 1)),
            self._python("scheduler", "-m", "workers.scheduler"),
        ]
        for child in self.children:
            child.start()
        self._wait(self._answers, READY_S, "the service does not answer /readyz")

    def _python(self, name: str, *arguments: str, pass_fds: tuple[int, ...] = ()) -> Child:
        # -P: what lies in the current folder must not pass for a part of the service.
        return Child(
            name,
            [sys.executable, "-P", *arguments],
            self.environment,
            self.data_dir.path,
            self.data_dir.log(name),
            pass_fds,
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

    def _wait(self, met: Callable[[], bool], limit_s: float, complaint: str) -> None:
        """Watches until ``met``; raises ``NotUp`` when that takes too long or a child keeps falling."""
        end = time.monotonic() + limit_s
        while not met():
            if self.signals.stop_requests:
                raise Stopped
            pause_s = self._watch()
            fallen = [child for child in self._all() if child.falls >= FALLS_BEFORE_READY]
            if fallen or time.monotonic() > end:
                raise NotUp("\n".join([complaint, *map(_account, fallen or self._all())]))
            self.signals.wait(min(pause_s, 0.1))

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(*self._address(), timeout=1.0)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        except http.client.HTTPException:
            return False
        finally:
            connection.close()

    def _address(self) -> tuple[str, int]:
        host, port = self.listener.getsockname()[:2]
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104  # recognised, not bound

    # -- staying up and going down --

    def _all(self) -> list[Child]:
        return ([self.redis] if self.redis else []) + self.children

    def _watch(self) -> float:
        """Notices who fell, brings back whose time has come; gives the seconds until there is something to do."""
        now = time.monotonic()
        pause_s = 5.0
        for child in self._all():
            if child.has_died():
                last_words = child.tail(1)[:200]
                self.say(f"{child.name} ended by itself, starting it again ({child.log}: {last_words or 'empty'})")
            if child.process is None and child.due <= now:
                child.start()
            elif child.process is None:
                pause_s = min(pause_s, child.due - now)
        return pause_s

    def _stop(self) -> None:
        """Everybody at once, Redis last, since the others still give their leases and locks back through it."""
        killed = stop(self.children, STOP_S, self.signals)
        if self.redis is not None:
            killed += stop([self.redis], REDIS_STOP_S, self.signals)
        if killed:
            self.say(f"had to kill {', '.join(killed)}; what they were at is taken up at the next start")


def _account(child: Child) -> str:
    state = "running" if child.process is not None else "ended"
    return f"--- {child.name} ({state}), end of {child.log}\n{child.tail() or '(empty)'}"
