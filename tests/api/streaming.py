"""Streams under gunicorn with fewer threads than viewers, and clients that read them."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from referee.db.engine import Database
from tests import gunicorn
from tests.api.conftest import API
from tests.database.databases import write_upgraded
from tests.database.world import World

PATIENCE_S = 30
LONGEST_S = 120  # that a client follows a stream
THREADS = 3
VIEWERS, VIEWERS_AN_ADDRESS = 8, 6


@dataclass(frozen=True, slots=True)
class Message:
    name: str
    id: str
    data: Any


class Watching:
    """A client that reads a stream message by message."""

    def __init__(self, port: int, path: str, last_id: str | None = None, address: str = "192.0.2.1") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        headers = {"X-Forwarded-For": address} | ({} if last_id is None else {"Last-Event-ID": last_id})
        self.connection.request("GET", API + path, headers=headers)
        self.answer = self.connection.getresponse()

    def __iter__(self) -> Iterator[Message]:
        return messages(self._lines())

    def _lines(self) -> Iterator[bytes]:
        """Yield lines; fail if they go on for long, since a stream sends comments while nothing happens."""
        end = time.monotonic() + LONGEST_S
        for line in iter(self.answer.readline, b""):
            assert time.monotonic() < end, "what is waited for does not arrive"
            yield line

    def until(self, last: Callable[[Message], bool]) -> list[Message]:
        """Return all messages up to the first for which ``last`` is true."""
        told = []
        for message in self:
            told.append(message)
            if last(message):
                return told
        pytest.fail(f"the stream ended after {told}")

    def leave(self) -> None:
        self.answer.close()
        self.connection.close()


def messages(lines: Iterator[bytes]) -> Iterator[Message]:
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif "event" in fields:
            yield Message(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
            fields = {}


@dataclass
class Server:
    """A service in processes of its own, on a database that the tests write to. ``listener`` outlives the processes."""

    listener: socket.socket
    folder: Path
    world: World
    process: subprocess.Popen[bytes] = field(init=False)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def start(self) -> None:
        """Start it with a graceful timeout longer than all timeouts of the tests."""
        settings = {
            "REFEREE_TRUSTED_PROXIES": "1",
            "REFEREE_STREAMS": str(VIEWERS),
            "REFEREE_STREAMS_PER_ADDRESS": str(VIEWERS_AN_ADDRESS),
        }
        options = ["--threads", str(THREADS), "--graceful-timeout", "300", "--log-level", "warning"]
        self.process = gunicorn.started(self.folder, self.listener, options, settings, start_new_session=True)

    def kill(self) -> None:
        """Kill all its processes with SIGKILL."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    database = Database(write_upgraded(folder / "referee.db"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        server = Server(listener, folder, World(database))
        server.start()
        try:
            yield server
        finally:
            with suppress(ProcessLookupError):
                server.kill()
            database.dispose()
