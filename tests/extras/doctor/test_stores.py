"""What the doctor finds in the database, in Redis, and of workers, clocks and backups."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import text

from referee.db import revisions
from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee_extras.doctor import store_checks
from tests.database import postgres
from tests.extras.doctor.conftest import lines
from workers import queues, reports
from workers.worker import RunnerWorker


def test_the_database_is_judged(database: Database) -> None:
    (good,) = lines(store_checks.check_database(database))
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    (old,) = lines(store_checks.check_database(database))
    (silent,) = lines(store_checks.check_database(Database("postgresql://referee@127.0.0.1:1/referee")))

    assert good.startswith("ok database: SQLite answers in ")
    assert good.endswith(f" ms, with schema {revisions.required_revision()}")
    assert old.startswith("failure database: The database has schema 0001, made before version 1.0 ")
    assert silent.startswith("failure database: the database does not answer: ")


@pytest.fixture
def filled(postgres_server: postgres.Server | None, postgres_filled: str | None) -> tuple[postgres.Server, str]:
    if postgres_server is None or postgres_filled is None:
        pytest.skip("NOT RUN: PostgreSQL cannot be started here")
    return postgres_server, postgres_filled


def check(url: str) -> list[str]:
    with connected(url) as database:
        return lines(store_checks.check_database(database))


@contextmanager
def connected(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.dispose()


def test_postgres_that_may_lose_results_is_found(filled: tuple[postgres.Server, str]) -> None:
    _, url = filled  # the server of the tests does without fsync
    found = check(f"{url}&options=-c%20synchronous_commit%3Doff")
    strict = check(f"{url}&options=-c%20default_transaction_isolation%3Dserializable")
    for name in ("fsync", "synchronous_commit"):
        assert f"failure database: {name} is off: a power cut may lose results that were announced" in found
    assert "failure database: default_transaction_isolation is serializable: concurrent claims would fail" in strict


@pytest.mark.usefixtures("filled")
def test_postgres_with_its_usual_settings_is_in_order() -> None:
    with postgres.server(fsync="on", synchronous_commit="on", full_page_writes="on") as own:
        with connected(own.url("postgres")) as database:
            upgrade(database)
        (good,) = check(own.url("postgres"))
    assert good.startswith("ok database: PostgreSQL answers in ")


def evict(redis: Redis) -> None:
    redis.config_set("maxmemory-policy", "allkeys-lru")


def forget(redis: Redis) -> None:
    redis.config_set("appendonly", "no")
    redis.config_set("save", "")


def follow(redis: Redis) -> None:
    redis.replicaof("127.0.0.1", 1)


def hide_settings(redis: Redis) -> None:
    redis.config_set("appendonly", "no")
    redis.acl_setuser("default", enabled=True, commands=["-config"])


def leave(redis: Redis) -> None:
    """Leave the server as it is."""


def share(redis: Redis) -> None:
    Queue("mails", connection=redis, serializer=JSONSerializer).enqueue("time.sleep", 0)


@pytest.mark.parametrize(
    ("break_it", "line"),
    [
        (leave, "ok redis: Redis answers, writes to disk, and evicts nothing"),
        (hide_settings, "ok redis: Redis answers, writes to disk, and evicts nothing"),
        (evict, "failure redis: maxmemory-policy is allkeys-lru: Redis may drop wake-ups and rate limits"),
        (forget, "warning redis: Redis keeps nothing on disk: a restart forgets rate limits and what was counted"),
        (follow, "failure redis: the server is a replica and stores nothing"),
        (share, "warning redis: another program uses this database of Redis, with the queue mails"),
    ],
)
def test_a_redis_server_is_judged(redis_url: str, break_it: Callable[[Redis], None], line: str) -> None:
    break_it(Redis.from_url(redis_url))
    assert lines(store_checks.check_redis(redis_url, True)) == [line]


@pytest.mark.parametrize("url", ["nonsense", "redis://[::1", "redis://:hunter#2@redis:6379", "redis://r:hunter2/0"])
def test_what_is_no_url_of_redis_is_found_and_not_repeated(database: Database, url: str) -> None:
    assert lines(store_checks.check_redis(url, True)) == ["failure redis: REDIS_URL is not a URL of a Redis server"]
    assert lines(store_checks.check_runners(url)) == ["skipped runners: not checked without Redis"]
    assert lines(store_checks.check_clocks(database, url)) == ["ok clocks: all processes use the clock of this host"]


def test_a_redis_elsewhere_without_a_password_is_found() -> None:
    found = "REDIS_URL has no password, and redis.example.org is another host"
    for production, level in ((True, "failure"), (False, "warning")):
        (finding,) = store_checks._check_password("redis://redis.example.org/0", production)
        assert lines(finding) == [f"{level} redis: {found}"]
    assert not list(store_checks._check_password("redis://:secret@redis.example.org/0", True))
    assert not list(store_checks._check_password("redis://127.0.0.1/0", True))


def test_what_workers_and_a_scheduler_report_is_judged(redis_url: str) -> None:
    missing = lines(store_checks.check_runners(redis_url))
    redis = Redis.from_url(redis_url)
    worker = RunnerWorker(queues.QUEUE, connection=redis, serializer=JSONSerializer)
    worker.register_birth()
    reports.report_queue(redis, reports.QueueReport(None))
    good = lines(store_checks.check_runners(redis_url))
    reports.report_queue(redis, reports.QueueReport(90))
    reports.report_shortage(redis, worker.key, "no memory is left")
    bad = lines(store_checks.check_runners(redis_url))

    assert missing == [
        "failure runners: no worker has sent a heartbeat: no match is played",
        "failure runners: no scheduler watches the queue: no tournament advances",
    ]
    assert good == ["ok runners: 1 workers and a scheduler are alive"]
    assert bad == [
        "failure runners: due work has waited for 90 s although a runner could claim it",
        "warning runners: a worker lacks resources: no memory is left",
    ]
    silent = "redis://127.0.0.1:1/0"
    assert lines(store_checks.check_runners(silent)) == ["skipped runners: not checked without Redis"]
    assert lines(store_checks.check_redis(silent, True))[0].startswith("failure redis: Redis does not answer: ")


def test_clocks_that_agree_are_in_order(database: Database, redis_url: str) -> None:
    (line,) = lines(store_checks.check_clocks(database, redis_url))
    assert line.startswith("ok clocks: Redis differ from this host by at most 0.")
    assert lines(store_checks.check_clocks(database, None)) == ["ok clocks: all processes use the clock of this host"]


def test_a_clock_that_differs_is_found(database: Database) -> None:
    assert lines(store_checks.check_clocks(database, None, date_ahead_s=-12.0)) == [
        "warning clocks: the clock of the API is 12 s behind this host"
    ]
    assert lines(store_checks.judge_clocks({"PostgreSQL": 3600.0, "Redis": 0.1})) == [
        "failure clocks: the clock of PostgreSQL is 3600 s ahead of this host"
    ]


def test_the_clock_of_postgres_is_read(filled: tuple[postgres.Server, str]) -> None:
    with connected(filled[1]) as database:
        (line,) = lines(store_checks.check_clocks(database, None))
    assert line.startswith("ok clocks: PostgreSQL differ from this host by at most 0.")


def test_the_age_of_the_newest_backup_is_judged(tmp_path: Path) -> None:
    made = datetime.now(UTC)
    newest = tmp_path / "one.tar", made

    def judge(hours: int) -> list[str]:
        return lines(store_checks.check_backups(tmp_path, lambda _: newest, now=made + timedelta(hours=hours)))

    assert lines(store_checks.check_backups(None, lambda _: newest)) == ["skipped backups: not checked"]
    assert lines(store_checks.check_backups(tmp_path, lambda _: None)) == [
        f"failure backups: {tmp_path} contains no backup"
    ]
    assert judge(3) == ["ok backups: the newest backup, one.tar, is 3 hours old"]
    assert judge(120) == ["warning backups: the newest backup, one.tar, is 5 days old"]
