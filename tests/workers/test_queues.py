"""The queue: enough wake-ups, never too many, and no errors for callers when Redis is away."""

import json
import subprocess
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from referee.db import change_notifier
from referee.runtime import embedded_redis
from referee.runtime.data_dir import DataDir
from tests.cli.running import comes_true, surroundings
from workers import queues


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


def test_two_runners_are_woken_however_often_it_is_said(redis: Redis) -> None:
    for _ in range(5):
        assert queues.wake(redis)

    assert waiting(redis) == ["wake-0", "wake-1"]


def test_those_that_play_already_do_not_keep_others_asleep(redis: Redis) -> None:
    queues.wake(redis)
    redis.delete(queues.queue(redis).key)  # popped by workers; their jobs exist while they play

    queues.wake(redis)

    assert waiting(redis) == ["wake-2", "wake-3"]


def test_no_more_wake_ups_than_slots(redis: Redis) -> None:
    for _ in range(queues.WAKE_SLOTS):
        queues.wake(redis)
        redis.delete(queues.queue(redis).key)

    assert queues.wake(redis)

    assert waiting(redis) == []


def test_a_match_to_be_played_alone_is_sent_once(redis: Redis) -> None:
    for _ in range(2):
        assert queues.wake_alone(redis, "mat_1")

    (job,) = queues.queue(redis).jobs
    assert (job.id, job.func_name, job.args) == ("alone-mat_1", queues.RUN_ALONE, ["mat_1"])


def test_the_heartbeat_of_a_job_that_redis_has_lost_does_not_block_its_id(redis: Redis) -> None:
    for job_id in ("wake-0", "alone-mat_1"):
        redis.hset(f"rq:job:{job_id}", "last_heartbeat", "2026-01-01T00:00:00Z")

    for _ in range(2):  # the first attempt tidies up
        queues.wake(redis)
        queues.wake_alone(redis, "mat_1")

    assert set(waiting(redis)) == {"wake-1", "wake-2", "alone-mat_1"}
    assert not redis.exists("rq:job:wake-0")


def test_a_job_carries_no_pickle(redis: Redis) -> None:
    queues.wake_alone(redis, "mat_1")

    stored = redis.hget("rq:job:alone-mat_1", "data")
    assert json.loads(zlib.decompress(stored)) == [queues.RUN_ALONE, None, ["mat_1"], {}]  # type: ignore[arg-type]


def test_without_redis_nobody_is_woken_and_nobody_is_hurt(tmp_path: Path) -> None:
    with queues.connect(embedded_redis.socket_url(tmp_path / "nobody.sock")) as nobody:
        assert not queues.wake(nobody)
        assert not queues.wake_alone(nobody, "mat_1")


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
    assert not listening.is_alive()


def test_without_redis_nothing_is_said_and_nobody_waits(tmp_path: Path) -> None:
    change_notifier.ChangeNotifier(None).notify()
    change_notifier.ChangeNotifier(queues.connect(embedded_redis.socket_url(tmp_path / "nobody"))).notify()


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


def test_a_notifier_is_closed_during_an_outage_of_redis(tmp_path: Path) -> None:
    before = set(announcers())
    notifier = change_notifier.ChangeNotifier(queues.connect(embedded_redis.socket_url(tmp_path / "nobody")))
    notifier.notify()

    notifier.close()

    assert set(announcers()) <= before
