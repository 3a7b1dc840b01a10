"""A process of the API that is watched by many: gunicorn, its viewers in a process of their own, somebody who asks for
something else meanwhile. What they watch is the business of ``streams``."""

import re
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from bench.measure import children_of, rounded
from bench.world import World

THREADS: Final = 16  # far fewer than viewers
PROBE_S: Final = 0.02
LATE_S: Final = 10.0  # what has not come so long after the last change is lost
CUT: Final = 64  # bytes that may belong to a number of which the rest comes with the next piece


def ms(seconds: list[float], share: float) -> float:
    return rounded(1000 * sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))])


# -- the service --


@contextmanager
def api(place: World, redis_url: str) -> Iterator[tuple[int, int]]:
    """gunicorn with one worker; its port and the worker's process."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        port = int(listener.getsockname()[1])
        environment = place.environment(
            REDIS_URL=redis_url, REFEREE_STREAMS="20000", REFEREE_STREAMS_PER_ADDRESS="20000", REFEREE_RATE_LIMITS="0"
        )
        command = [sys.executable, "-m", "gunicorn", "api.wsgi:app", "--bind", f"fd://{listener.fileno()}"]
        options = [
            "--worker-class",
            "api.gunicorn_worker.TimeoutWorker",
            "--threads",
            str(THREADS),
            "--no-control-socket",
            "--log-level",
            "error",
        ]
        process = subprocess.Popen(
            command + options, env=environment, pass_fds=[listener.fileno()], cwd=Path(__file__).parents[1]
        )
        try:
            get(port, "/readyz")
            yield port, children_of(process.pid)[0]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def get(port: int, path: str) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status}")


def asked(port: int, seconds: float) -> list[float]:
    """How long each of many requests took."""
    found, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        get(port, "/api/v1/bots?limit=10")
        found.append(time.monotonic() - began)
        time.sleep(PROBE_S)
    return found


@contextmanager
def probing(port: int) -> Iterator[list[float]]:
    """Asks something else meanwhile."""
    found: list[float] = []
    stopped = threading.Event()

    def probe() -> None:
        while not stopped.is_set():
            found.extend(asked(port, 0.2))

    thread = threading.Thread(target=probe)
    thread.start()
    try:
        yield found
    finally:
        stopped.set()
        thread.join()


# -- viewers, in a process of their own --


def watch(port: int, path: str, ready: bytes, number: bytes, count: int, parent: Connection) -> None:
    """Opens so many streams; says when all have had ``ready``; told which numbers there were, reports when each came
    (``number`` is the pattern to find them by)."""
    selector = selectors.DefaultSelector()
    told: list[tuple[int, float]] = []
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    for _ in range(count):
        viewer = socket.create_connection(("127.0.0.1", port), timeout=20)
        viewer.sendall(request)
        received = b""
        while ready not in received:
            received += viewer.recv(65536)
        viewer.setblocking(False)
        selector.register(viewer, selectors.EVENT_READ, bytearray())
    parent.send("ready")
    pattern = re.compile(number)
    wanted: set[int] | None = None
    end = float("inf")
    while time.monotonic() < end and (wanted is None or len(told) < count * len(wanted)):
        for key, _ in selector.select(0.2):
            moment, received = time.monotonic(), key.fileobj.recv(1 << 18)  # type: ignore[union-attr]  # a socket
            told += [(one, moment) for one in numbers(pattern, key.data, received)]
        if wanted is None and parent.poll():
            wanted, end = set(parent.recv()), time.monotonic() + LATE_S
            told = [(one, moment) for one, moment in told if one in wanted]
    parent.send([(one, moment) for one, moment in told if wanted and one in wanted])


def numbers(pattern: re.Pattern[bytes], rest: bytearray, received: bytes) -> list[int]:
    """The numbers in this piece of a stream; ``rest`` keeps what may be the beginning of another."""
    text, end = bytes(rest) + received, 0
    found = []
    for match in pattern.finditer(text):
        found.append(int(match[1]))
        end = match.end()
    rest[:] = text[end:][-CUT:]
    return found
