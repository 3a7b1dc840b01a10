"""The queue: enough wake-ups, never too many, and no errors for callers when Redis is away."""

import json
import logging
import socket
import subprocess
import threading
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError, TimeoutError
from rq import Worker, results
from rq.executions import Execution

from referee.db import change_notifier
from referee.runtime import embedded_redis
from referee.runtime.data_dir import DataDir
from tests.cli.running import comes_true, surroundings
from workers import queues, tolerant_worker
from workers.rq_job import WakeUp
from workers.tolerant_worker import RedisWrites, TolerantWorker


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a real server."""
    data_dir = DataDir(tmp_path_factory.mktemp("redis"))
    command = embedded_redis.create_child(data_dir, surroundings()).command
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    assert comes_true(lambda: embedded_redis.is_answering(data_dir.socket()))
    yield embedded_redis.socket_url(data_dir.socket())
    process.kill()
    process.wait()


@pytest.fixture
def redis(server: str) -> Iterator[Redis]:
    with queues.connect(server) as client:
        client.flushall()
        yield client


def waiting(redis: Redis) -> list[str]:
    return list(queues.queue(redis).job_ids)


def test_two_runners_are_woken_however_often_and_by_however_many_it_is_said(server: str, redis: Redis) -> None:
    begin = threading.Barrier(8)

    def wake() -> None:
        with queues.connect(server) as client:
            begin.wait()
            assert queues.wake(client)

    threads = [threading.Thread(target=wake) for _ in range(begin.parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(waiting(redis)) == queues.WAITING
    assert all(job_id.startswith("wake-") for job_id in waiting(redis))


def test_neither_those_that_play_already_nor_matches_to_be_played_alone_keep_others_asleep(redis: Redis) -> None:
    queues.wake(redis)
    playing = waiting(redis)
    redis.delete(queues.queue(redis).key)  # popped by workers; their jobs exist while they play
    for number in range(queues.WAITING + 1):
        queues.wake_alone(redis, f"mat_{number}")

    queues.wake(redis)

    woken = {job_id for job_id in waiting(redis) if job_id.startswith("wake-")}
    assert len(woken | {*playing}) == 2 * queues.WAITING


def test_a_match_to_be_played_alone_is_sent_once_while_its_job_waits_or_runs(redis: Redis) -> None:
    runners = queues.queue(redis)
    for _ in range(2):
        assert queues.wake_alone(redis, "mat_1")
    (job,) = runners.jobs
    assert (job.func_name, job.args, job.description) == (queues.RUN_ALONE, ["mat_1"], "runner mat_1")
    stored = cast(bytes, redis.hget(f"rq:job:{job.id}", "data"))  # no pickle
    assert json.loads(zlib.decompress(stored)) == [queues.RUN_ALONE, None, ["mat_1"], {}]

    redis.delete(runners.key)  # popped
    with redis.pipeline() as pipeline:
        execution = Execution.create(job, 60, pipeline)
        pipeline.execute()
    queues.wake_alone(redis, "mat_1")
    assert waiting(redis) == []

    runners.started_job_registry.remove_execution(execution, redis)
    runners.failed_job_registry.add(job, ttl=60, exc_string="killed")  # it is kept, and blocks nothing
    queues.wake_alone(redis, "mat_1")
    assert len(waiting(redis)) == 1


def test_the_history_of_jobs_is_bounded(redis: Redis) -> None:
    runners = queues.queue(redis)
    for registry in (runners.finished_job_registry, runners.failed_job_registry):
        for number in range(5):
            job = runners.create_job(queues.RUN_DUE, job_id=f"{registry.key[3:]}-{number}".replace(":", "-"))
            job.save()
            results.Result.create(job, results.Result.Type.SUCCESSFUL, ttl=60)
            redis.zadd(registry.key, {job.id: 1_000_000_000_000 + number})

    queues.trim_history(runners, 2)

    kept = [registry.get_job_ids() for registry in (runners.finished_job_registry, runners.failed_job_registry)]
    assert [[job_id[-1] for job_id in job_ids] for job_ids in kept] == [["3", "4"]] * 2
    assert len(redis.keys("rq:job:*")) == len(redis.keys("rq:results:*")) == 4


def test_the_heartbeat_of_a_job_that_redis_has_lost_expires(redis: Redis) -> None:
    job = WakeUp("wake-1", connection=redis)

    job.heartbeat(datetime.now(UTC), 9)

    assert 0 < redis.ttl("rq:job:wake-1") <= queues.FAILED_KEPT_S


def test_a_worker_whose_registration_was_not_confirmed_registers_again(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = TolerantWorker(queues.QUEUE, connection=redis)
    execute = Pipeline.execute
    answers_lost: list[Any] = []

    def lose_first_answer(pipeline: Pipeline) -> Any:
        answers = execute(pipeline)
        if not answers_lost:
            answers_lost.append(answers)
            raise TimeoutError
        return answers

    monkeypatch.setattr(Pipeline, "execute", lose_first_answer)
    monkeypatch.setattr(tolerant_worker, "RECONNECT_S", 0.0)

    worker.register_birth()

    assert answers_lost
    assert [registered.name for registered in Worker.all(redis)] == [worker.name]


def test_a_worker_warns_of_a_redis_that_fails_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    clock = iter((0.0, 30.0, 60.0, 61.0, 62.0))
    writes = RedisWrites(lambda: next(clock))

    with caplog.at_level(logging.INFO):
        for _ in range(4):
            writes.note_failure(RedisError("WRONGPASS"))
        writes.note_success()
        writes.note_success()
        writes.note_failure(RedisError("WRONGPASS"))

    failed = "redis_writes_failed"
    assert [entry.message for entry in caplog.records] == [failed, failed, "redis_writes_resumed", failed]


def test_without_redis_nobody_is_woken_and_nobody_is_hurt(tmp_path: Path) -> None:
    with queues.connect(embedded_redis.socket_url(tmp_path / "nobody.sock")) as nobody:
        assert not queues.wake(nobody)
        assert not queues.wake_alone(nobody, "mat_1")


def test_a_redis_that_accepts_connections_but_does_not_answer_is_given_up(redis: Redis) -> None:
    assert queues.can_wake(redis)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        Redis.from_url(f"redis://127.0.0.1:{silent.getsockname()[1]}", socket_timeout=None) as client,
    ):
        assert not queues.can_wake(client)


def test_the_client_of_the_notifier_waits_longer_than_its_blocking_reads(tmp_path: Path) -> None:
    with change_notifier.connect(embedded_redis.socket_url(tmp_path / "nobody.sock")) as nobody:
        assert nobody.connection_pool.connection_kwargs["socket_timeout"] > change_notifier.BLOCK_S


def test_a_word_that_the_record_has_changed_is_heard(server: str, redis: Redis) -> None:
    heard, stopped = threading.Event(), threading.Event()
    listening = threading.Thread(
        target=change_notifier.listen, args=(change_notifier.connect(server), heard.set, stopped), daemon=True
    )
    listening.start()
    announcer = change_notifier.ChangeNotifier(redis)

    def said() -> bool:  # repeatedly, since the listener may not have started
        announcer.notify()
        return heard.wait(0.05)

    assert comes_true(said)
    heard.clear()
    assert comes_true(said)
    for _ in range(change_notifier.MAX_STREAM_LENGTH * 3):
        redis.xadd(change_notifier.STREAM, {"at": "0"}, maxlen=change_notifier.MAX_STREAM_LENGTH, approximate=True)
    assert redis.xlen(change_notifier.STREAM) <= change_notifier.MAX_STREAM_LENGTH * 2
    stopped.set()
    announcer.notify()
    listening.join(10)
    announcer.close()
    assert not listening.is_alive()


def test_a_redis_that_refuses_writes_is_logged_once(redis: Redis, caplog: pytest.LogCaptureFixture) -> None:
    notifier = change_notifier.ChangeNotifier(redis)
    redis.config_set("min-replicas-to-write", "1")
    with caplog.at_level(logging.INFO):
        waits_s = [notifier._publish(redis) for _ in range(3)]
        assert not queues.wake(redis)
        assert not queues.wake_alone(redis, "mat_1")
    redis.config_set("min-replicas-to-write", "0")

    assert waits_s == [change_notifier.RECONNECT_S] * 3
    assert [entry.message for entry in caplog.records].count("change_notification_failed") == 1
    assert notifier._publish(redis) == change_notifier.MIN_INTERVAL_S


def announcers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "announcer"]


def test_a_notifier_that_is_closed_has_published_all_and_its_thread_has_ended(server: str) -> None:
    before = set(announcers())
    redis = change_notifier.connect(server)
    redis.delete(change_notifier.STREAM)
    notifier = change_notifier.ChangeNotifier(redis)
    notifier.notify()
    (thread,) = set(announcers()) - before

    notifier.close()

    assert not thread.is_alive()
    assert redis.xlen(change_notifier.STREAM) == 1
    redis.close()
    notifier.notify()
    notifier.close()
    assert set(announcers()) <= before
    assert change_notifier.connect(server).xlen(change_notifier.STREAM) == 1


def test_a_notifier_is_closed_during_an_outage_of_redis_and_says_nothing_without_one(tmp_path: Path) -> None:
    before = set(announcers())
    change_notifier.ChangeNotifier(None).notify()
    notifier = change_notifier.ChangeNotifier(queues.connect(embedded_redis.socket_url(tmp_path / "nobody")))
    notifier.notify()

    notifier.close()

    assert set(announcers()) <= before
