"""The service of the browser tests: gunicorn on loopback with a database filled beforehand, without Redis."""

import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from referee.runtime import parent_death
from tests import gunicorn

START_S = 60.0
THREADS = 24


@dataclass(frozen=True)
class Served:
    """The running service."""

    url: str
    log: Path


@contextmanager
def served(folder: Path, log: str = "gunicorn.log", **settings: str) -> Iterator[Served]:
    """Run the service with the database and log in ``folder``."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        running = Served(f"http://127.0.0.1:{listener.getsockname()[1]}", folder / log)
        process = _started(folder, listener, running, settings)
        try:
            _wait_until_up(running, process)
            yield running
        finally:
            process.terminate()
            process.wait(20)


def _started(
    folder: Path, listener: socket.socket, running: Served, changes: dict[str, str]
) -> subprocess.Popen[bytes]:
    options = ["--workers", "1", "--threads", str(THREADS), "--keep-alive", "5", "--graceful-timeout", "1"]
    settings = {"REFEREE_EGRESS_ALLOW": "127.0.0.1/32:1024-65535", "REFEREE_PUBLIC_URL": running.url} | changes
    with running.log.open("wb") as output:
        return gunicorn.started(
            *(folder, listener, options, settings),
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=parent_death.make_preexec(signal.SIGTERM),  # nothing outlives the tests
        )


def _wait_until_up(running: Served, process: subprocess.Popen[bytes]) -> None:
    """Wait for the first response: the socket listens before the application has loaded."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{running.url}/readyz", timeout=2) as answer:
            if answer.status == 200:
                return
        time.sleep(0.1)
    raise AssertionError(f"gunicorn did not come up:\n{running.log.read_text()}")
