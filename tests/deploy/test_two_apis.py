"""The proxy before two containers of the API, one of which does not answer. It runs a real nginx and a name server."""

import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.answering import Answer, Call, answering
from tests.deploy.processes import free_port
from tests.deploy.proxying import Proxy, Upstream, in_front_of

GOOD, BAD = "127.0.0.2", "127.0.0.3"
REQUESTS = 8  # the proxy takes a container at random


@contextmanager
def api(address: str, port: int, *, answers: bool) -> Iterator[list[str]]:
    """Answer each request with 200, or read it and close the connection. Yield the methods of the requests."""
    methods: list[str] = []

    def answer(call: Call) -> Answer | None:
        methods.append(call.method)
        return (200, {"Connection": "close"}, b"ok") if answers else None

    with answering(answer, (address, port)):
        yield methods


@contextmanager
def name_server() -> Iterator[int]:
    """Answer every question for an address with those of both containers."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            question, asker = server.recvfrom(512)
            if not question:
                return
            addresses = b"".join(
                b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04" + socket.inet_aton(address)
                for address in (GOOD, BAD)
            )
            server.sendto(question[:2] + b"\x81\x80\x00\x01\x00\x02\x00\x00\x00\x00" + question[12:] + addresses, asker)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        server.sendto(b"", server.getsockname())
        thread.join()
        server.close()


@pytest.fixture
def api_port() -> int:
    return free_port()


@pytest.fixture
def good(api_port: int) -> Iterator[list[str]]:
    with api(GOOD, api_port, answers=True) as methods:
        yield methods


@pytest.fixture
def proxy(tmp_path: Path, api_port: int, good: list[str]) -> Iterator[Proxy]:
    with name_server() as names:
        changes = {"http://api:8000": f"http://api:{api_port}", "resolver 127.0.0.11": f"resolver 127.0.0.1:{names}"}
        with in_front_of(api_port, tmp_path, Upstream(), **changes) as proxy:
            yield proxy


def ask(proxy: Proxy, method: str) -> int:
    return proxy.ask(method, "/x", b"{}" if method == "POST" else None)[0]


def test_a_container_that_is_gone_costs_no_request(proxy: Proxy, good: list[str]) -> None:
    statuses = Counter(ask(proxy, method) for _ in range(REQUESTS) for method in ("GET", "POST"))

    assert statuses == {200: 2 * REQUESTS}
    assert Counter(good) == {"GET": REQUESTS, "POST": REQUESTS}


def test_a_request_that_a_container_lost_is_asked_again_unless_it_is_a_post(
    proxy: Proxy, good: list[str], api_port: int
) -> None:
    with api(BAD, api_port, answers=False) as bad:
        reads, writes = (ask_until_lost(proxy, method, bad) for method in ("GET", "POST"))

    assert set(reads) == {200}
    assert Counter(bad)["POST"] == 1
    assert writes == Counter({503: 1}) + Counter({200: Counter(good)["POST"]})


def ask_until_lost(proxy: Proxy, method: str, bad: list[str]) -> Counter[int]:
    """Return how often each status was answered until the proxy, which takes any container, took the bad one."""
    statuses: Counter[int] = Counter()
    while method not in bad:
        statuses[ask(proxy, method)] += 1
    return statuses
