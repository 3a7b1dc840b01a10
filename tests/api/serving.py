"""Run the service as in production, gunicorn with threads, on loopback with an empty database; send it raw bytes."""

import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import gunicorn
from tests.database.databases import write_upgraded

START_S = 60


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Server:
    port: int
    log: Path
    process: subprocess.Popen[bytes]  # gunicorn's first

    @property
    def pid(self) -> int:
        return self.process.pid

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def say(self, *parts: bytes) -> Reply:
        """Send the parts in order and return the whole response; the server may close before the last part."""
        with self.connect() as connection:
            with contextlib.suppress(ConnectionError):
                for part in parts:
                    connection.sendall(part)
            return read_reply(connection)

    def ask(self, method: str, path: str, headers: Sequence[str] = (), body: bytes = b"") -> Reply:
        given = [f"Host: 127.0.0.1:{self.port}", "Connection: close", *headers]
        if body:
            given.append(f"Content-Length: {len(body)}")
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *given, "", ""])
        return self.say(head.encode(), body)


def read_reply(connection: socket.socket) -> Reply:
    received = b""
    with contextlib.suppress(ConnectionError):
        while chunk := connection.recv(65536):
            received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    return Reply(int(lines[0].split()[1]) if lines[0] else 0, headers, body)


@contextmanager
def serving(folder: Path, threads: int, *, graceful_s: int = 5, **settings: str) -> Iterator[Server]:
    """Run a server with these ``REFEREE_`` variables and otherwise default settings; its files are in ``folder``."""
    write_upgraded(folder / "referee.db")
    options = ["--workers", "1", "--threads", str(threads), "--keep-alive", "5"]
    options += ["--graceful-timeout", str(graceful_s)]
    log = folder / "gunicorn.log"
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener, log.open("wb") as output:
        process = gunicorn.started(folder, listener, options, settings, stdout=output, stderr=subprocess.STDOUT)
        running = Server(listener.getsockname()[1], log, process)
        try:
            _wait_until_up(running)
            yield running
        finally:
            process.terminate()
            process.wait(START_S)


def _wait_until_up(server: Server) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.process.poll() is None:
        # The socket listens already; the answer comes when the worker is there.
        with contextlib.suppress(OSError):
            if server.ask("GET", "/readyz").status == 200:
                return
    pytest.fail(f"gunicorn did not come up:\n{server.log.read_text()}")
