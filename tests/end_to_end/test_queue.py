"""K9, K10, K12, K13: a queue that dies, forgets, repeats itself or is filled twice. Only the database decides."""

import time
from collections.abc import Iterator
from random import Random, SystemRandom

import pytest
from redis import Redis

from tests.end_to_end.bots import Bots
from tests.end_to_end.service import Service
from workers import queues

LONG = {"rounds": 8}


@pytest.fixture
def bots(service: Service) -> Iterator[Bots]:
    with Bots() as bots:
        for name in ("random", "sound", "first"):
            service.enlist(bots.serve(name, latency_ms=20))
        yield bots


def test_K9_running_matches_go_on_without_redis_and_due_ones_when_it_is_back(service: Service, bots: Bots) -> None:
    service.redis()
    service.scheduler()
    running = [service.arrange(options=LONG) for _ in range(6)]
    service.worker(REFEREE_RUNNER_SLOTS="8")  # two of them are reserved for other accounts
    service.until(lambda: service.statuses() == {"running": 6} and len(bots.desk.answered) > 30, "play")

    assert service.redis_server is not None
    service.redis_server.kill()
    away = time.monotonic()
    due = [service.arrange() for _ in range(4)]
    service.until_finished(running)
    went_on_s = time.monotonic() - away
    service.redis()
    back = time.monotonic()
    service.until_finished(due)

    print(f"played on for {went_on_s:.1f} s without redis; the rest was done {time.monotonic() - back:.1f} s after it")
    assert {service.match(match_id).epoch for match_id in running} == {1}
    assert len(service.workers) == 1
    service.check_all(running + due)


def test_K10_a_queue_emptied_at_random_moments_loses_and_doubles_nothing(service: Service, bots: Bots) -> None:
    seed = SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    rng = Random(seed)
    client = service.redis()
    service.scheduler()
    for _ in range(2):
        service.worker()
    match_ids = []

    for _ in range(8):
        match_ids += [service.arrange(), service.arrange("saint-poker")]
        _wait_for_answers(service, bots, len(bots.desk.answered) + rng.randrange(40))
        client.flushall()
    service.until_finished(match_ids)

    assert {service.match(match_id).epoch for match_id in match_ids} == {1}
    assert len(service.workers) == 2
    service.check_all(match_ids)


def test_K12_stale_and_doubled_jobs_call_nobody_and_change_nothing(service: Service, bots: Bots) -> None:
    client = service.redis()
    match_ids = [service.arrange() for _ in range(2)]
    for _ in range(2):
        service.worker()
    for _ in range(5):
        _enqueue(client, queues.RUN_DUE)
    service.until_finished(match_ids)
    service.until(lambda: not any(worker.horse for worker in service.workers), "idle workers")
    asked, epochs = len(bots.desk.asked), [service.match(match_id).epoch for match_id in match_ids]

    for match_id in (*match_ids, match_ids[0], "mat_" + "0" * 26, "nonsense"):
        _enqueue(client, queues.RUN_ALONE, match_id)
    _enqueue(client, queues.RUN_DUE)
    _enqueue(client, "workers.jobs.no_such_job")
    waiting = queues.queue(client)
    service.until(lambda: waiting.count == 0 and not any(worker.horse for worker in service.workers), "empty hands")

    assert len(bots.desk.asked) == asked
    assert [service.match(match_id).epoch for match_id in match_ids] == epochs == [1, 1]
    assert len(service.workers) == 2
    service.check_all(match_ids)


def test_K13_three_schedulers_wake_no_match_twice(service: Service, bots: Bots) -> None:
    service.redis()
    for _ in range(3):
        service.scheduler()
    match_ids = [service.arrange(options={"rounds": 1}) for _ in range(16)]
    for _ in range(2):
        service.worker()

    service.until_finished(match_ids)

    asked = [question.id for question in bots.desk.asked]
    assert len(asked) == len(set(asked))
    assert {service.match(match_id).epoch for match_id in match_ids} == {1}
    service.check_all(match_ids)


def test_a_wake_up_whose_worker_died_does_not_block_the_queue(service: Service, bots: Bots) -> None:
    client = service.redis()
    match_id = service.arrange(options=LONG)
    queues.wake_alone(client, match_id)
    with service.database.write():  # the horse waits for its turn to write
        first = service.worker()
        service.until(lambda: first.horse, "a horse")
        first.kill()

    service.worker()
    queue = queues.queue(client)
    service.until(lambda: queue.failed_job_registry.get_job_ids(), "the job failed", 40)

    assert queues.wake_alone(client, match_id)
    service.until(lambda: queue.count == 0, "the job taken again")


def _wait_for_answers(service: Service, bots: Bots, enough: int) -> None:
    service.until(lambda: len(bots.desk.answered) >= enough, "some answers")


def _enqueue(client: Redis, function: str, *arguments: str) -> None:
    queues.queue(client).enqueue(function, *arguments, result_ttl=0, failure_ttl=0)
