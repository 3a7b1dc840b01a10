"""An API process that is flooded with malformed requests, or runs out of file descriptors: it says so and goes on."""

import contextlib
import resource
from collections.abc import Iterator

import pytest

from referee.runtime.open_files import count_open_files
from tests.api.serving import Server, serving
from tests.end_to_end.processes import children, until

THREADS = 4
SPARE = 8
LIMIT = 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("served"), THREADS) as running:
        yield running


def test_E13_malformed_requests_do_not_fill_the_log(server: Server) -> None:
    before = server.log.stat().st_size

    for _ in range(300):
        server.say(b"A" * 4_000 + b" / HTTP/1.1\r\n\r\n")

    told = server.log.read_bytes()[before:]
    assert 0 < told.count(b"Invalid request") <= 30
    assert len(told) < 30 * 1_200


@pytest.fixture
def worker(server: Server) -> Iterator[int]:
    """Return the process that serves, whose limit is restored at the end."""
    (pid,) = children(server.pid)
    normal = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    yield pid
    resource.prlimit(pid, resource.RLIMIT_NOFILE, normal)
    until(lambda: server.ask("GET", "/healthz").status == 200, "an answer", 20)
    assert children(server.pid) == [pid]


def limit_files(pid: int, limit: int) -> None:
    _, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, most))


def count(pid: int) -> int:
    found = count_open_files(pid)
    assert found is not None
    return found.open


def test_K24_readiness_tells_that_few_file_descriptors_are_left(server: Server, worker: int) -> None:
    assert server.ask("GET", "/readyz").json()["files"] == "ok"
    limit_files(worker, LIMIT)

    with contextlib.ExitStack() as opened:
        while count(worker) < 0.92 * LIMIT:  # connections between two requests take no thread
            kept = opened.enter_context(server.connect())
            kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert kept.recv(4096).startswith(b"HTTP/1.1 200")
        found = until(lambda: (r := server.ask("GET", "/readyz").json())["files"] == "short" and r, "a word", 20)

    assert found["status"] == "degraded"


def test_K24_an_api_without_file_descriptors_says_so_and_serves_on(server: Server, worker: int) -> None:
    limit_files(worker, count(worker) + SPARE)

    with contextlib.ExitStack() as silent:
        for _ in range(3 * SPARE):
            silent.enter_context(server.connect())
        until(lambda: b"files_running_out" in server.log.read_bytes(), "a word in the log", 20)
