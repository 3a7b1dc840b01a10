"""A service whose processes can be injured: workers, schedulers, the API, bare runners, and their database."""

import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import text

from referee.accounts import accounts
from referee.db.leases import LEASE_S
from tests.database import postgres
from tests.deploy.processes import free_port
from tests.end_to_end.processes import Process, children, send
from tests.end_to_end.service import Service
from tools.chaos import planted
from tools.chaos.network import Namespace

ENTRY = "tools.chaos.entry"


class Installation(Service):
    """Run every process through ``entry``, with a planted fault if one is named."""

    def __init__(self, folder: Path, server: postgres.Server | None = None, *, fault: str = "") -> None:
        super().__init__(folder, server.url("postgres") if server else "")
        self.server = server
        self.clock_file = folder / "clock"
        self.environment |= {"CHAOS_CLOCK": str(self.clock_file), "REFEREE_RATE_LIMITS": "false"}
        if fault:
            self.environment["CHAOS_PLANTED"] = fault
        self.port = free_port()
        self._distant_url = ""

    def _start(self, kind: str, command: Sequence[str], settings: dict[str, str]) -> Process:
        if "CHAOS_PLANTED" not in self.environment:
            return super()._start(kind, [f"{ENTRY}:main", *command], settings)
        self.names += 1  # a fault is planted before the service is imported
        program = [sys.executable, "-m", ENTRY, *command]
        process = Process.start(f"{kind}-{self.names}", program, self.environment | settings, self.folder)
        self.processes.append(process)
        return process

    def distant_worker(self, namespace: Namespace) -> Process:
        """Start a worker that reaches the database only through the network of ``namespace``."""
        self.names += 1
        command = [*namespace.command, sys.executable, "-m", ENTRY, "workers.worker:main"]
        settings = self.environment | {"DATABASE_URL": self._distant_url}
        process = Process.start(f"distant-worker-{self.names}", command, settings, self.folder)
        self.processes.append(process)
        return process

    def allow_network(self, database_url: str, bots_host: str) -> None:
        """Let distant workers use this URL of the database, and all workers call bots at this address."""
        self._distant_url = database_url
        self.environment["REFEREE_EGRESS_ALLOW"] += f",{bots_host}/32:1024-65535"

    def runner(self) -> Process:
        """Start a runner without Redis and worker."""
        return self._start("runner", [f"{ENTRY}:run_runners"], {"REDIS_URL": ""})

    def api(self) -> Process:
        options = f"--bind 127.0.0.1:{self.port} --worker-class api.gunicorn_worker.TimeoutWorker"
        options += " --workers 2 --threads 8 --no-control-socket"
        return self._start("api", ["gunicorn.app.wsgiapp:run", "api.wsgi:app", *options.split()], {})

    def alive(self, kind: str) -> list[Process]:
        return [process for process in self.processes if process.name.startswith(kind) and process.alive]

    def count_finished(self, kind: str) -> int:
        """Return how many matches the runners of these workers finished, as they logged when they ended."""
        logs = [process.log.read_text(errors="replace") for process in self.processes if process.name.startswith(kind)]
        return sum(int(count) for log in logs for count in re.findall(r'"runner_finished".*?"finished": (\d+)', log))

    def count_failed(self) -> Counter[str]:
        """Count, by kind, the processes that ended with an error. One that was killed ended by a signal instead."""
        failed = [process.name for process in self.processes if (process.popen.returncode or 0) > 0]
        return Counter(name.rpartition("-")[0] for name in failed)

    def has_fault_acted(self) -> bool:
        """Return whether any process has reached the planted fault."""
        return any(planted.ACTED.encode() in process.log.read_bytes() for process in self.processes)

    def all_pids(self) -> list[int]:
        """Return the process ids of all processes and of what they forked, without Redis and PostgreSQL."""
        own = [process.pid for process in self.processes if process.alive]
        return [*own, *(child for pid in own for child in children(pid))]

    def jump_clock(self, ahead_s: float) -> None:
        """Set by how many seconds the wall clock of the service is ahead of the right time."""
        draft = self.clock_file.with_suffix(".next")
        draft.write_text(str(ahead_s))
        draft.replace(self.clock_file)

    def expire_leases(self) -> None:
        """Age all leases of matches and deal groups, as if nobody had renewed them for as long as they last.

        Earlier losses are forgotten, since a match that was lost twice must be played alone, which takes a worker.
        """
        aged = "lease_until = lease_until - :age"
        with self.database.write() as session:
            session.execute(text(f"UPDATE matches SET lost_claims = 0, {aged}"), {"age": LEASE_S})
            session.execute(text(f"UPDATE deal_groups SET {aged}"), {"age": LEASE_S})

    def create_organiser(self) -> "Client":
        with self.database.write() as session:
            account = accounts.create_account(session, "Organiser", "organiser")
            _, token = accounts.create_token(session, account.id, "campaign")
        return Client(f"http://127.0.0.1:{self.port}", token)

    def kill_api(self, process: Process) -> None:
        """Kill the API with its workers, which would otherwise keep the port for a second."""
        for pid in [process.pid, *children(process.pid)]:
            send(pid, signal.SIGKILL)
        process.popen.wait()


class Client:
    """Arrange matches through the API. A request without an answer is repeated with the same key until it has one."""

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=8.0)
        self._waiting: dict[str, dict[str, Any]] = {}
        self.match_ids: list[str] = []
        self.refused: int = 0

    def arrange(self, new_match: dict[str, Any]) -> None:
        self._waiting[f"campaign-{os.urandom(8).hex()}"] = new_match

    def is_served(self) -> bool:
        """Return whether the API answers."""
        try:
            return self._http.get("/readyz").status_code == 200
        except httpx.HTTPError:
            return False

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def send_waiting(self) -> None:
        """Send the requests without an answer, until one fails."""
        for key, new_match in list(self._waiting.items()):
            try:
                answer = self._http.post("/api/v1/matches", json=new_match, headers={"Idempotency-Key": key})
            except httpx.HTTPError:
                self.refused += 1
                return
            if answer.status_code in (409, 503):
                self.refused += 1
                return
            assert answer.status_code == 201, answer.text
            self.match_ids.append(answer.json()["id"])
            del self._waiting[key]
