"""K9 to K13: a queue that dies, forgets, repeats itself, is filled twice, or refuses writes.

Only the database decides. Workers wait for such a Redis and say so, and running matches go on.
"""

from collections.abc import Iterator
from random import Random, SystemRandom

import pytest
from redis import Redis

from api.health.checks import check_redis
from tests.end_to_end.bots import Bots
from tests.end_to_end.processes import Process
from tests.end_to_end.service import Service
from workers import queues, reports

LONG = {"rounds": 8}


@pytest.fixture(scope="module")
def bots(service: Service) -> Iterator[Bots]:
    with Bots() as bots:
        service.redis()
        for name in ("random", "sound", "first"):
            service.enlist(bots.serve(name, latency_ms=20))
        yield bots


@pytest.fixture(scope="module")
def running(service: Service, bots: Bots) -> Service:
    """Start two workers and three schedulers."""
    for _ in range(3):
        service.scheduler()
    service.have_workers(2)
    return service


def test_a_wake_up_whose_worker_died_does_not_block_the_queue(service: Service, bots: Bots) -> None:
    client = service.client()
    match_id = service.arrange()
    queues.wake_alone(client, match_id)
    with service.database.write():  # the horse waits for its turn to write
        first = service.worker()
        service.until(lambda: first.horse, "a horse")
        first.kill()

    service.worker()
    queue = queues.queue(client)
    service.until(lambda: queue.failed_job_registry.get_job_ids(), "the job failed")

    assert queues.wake_alone(client, match_id)
    service.until(lambda: queue.count == 0, "the job taken again")


def test_K10_K13_with_three_schedulers_a_queue_emptied_at_random_moments_loses_and_doubles_nothing(
    running: Service, bots: Bots
) -> None:
    seed = SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    rng, client = Random(seed), running.client()
    running.until_finished(running.arranged)
    bots.expect()
    match_ids = []

    for _ in range(6):
        match_ids += [running.arrange(), running.arrange("saint-poker")]
        enough = len(bots.desk.answered) + rng.randrange(40)
        running.until(lambda enough=enough: len(bots.desk.answered) >= enough, "some answers")  # type: ignore[misc]
        client.flushall()
    running.until_finished(match_ids)

    asked = [question.id for question in bots.desk.asked]
    assert len(asked) == len(set(asked))
    assert {running.match(match_id).epoch for match_id in match_ids} == {1}
    running.until(lambda: reports.count_workers(client) == 2, "the same workers, registered again")
    assert len(running.workers) == 2
    running.check_all()
    for scheduler in [process for process in running.processes if process.name.startswith("scheduler")][1:]:
        scheduler.terminate()


def test_K12_stale_and_doubled_jobs_call_nobody_and_change_nothing(running: Service, bots: Bots) -> None:
    client = running.client()
    match_ids = [running.arrange() for _ in range(2)]
    for _ in range(5):
        _enqueue(client, queues.RUN_DUE)
    running.until_finished(match_ids)
    _wait_until_idle(running)
    asked, epochs = len(bots.desk.asked), [running.match(match_id).epoch for match_id in match_ids]

    for match_id in (*match_ids, match_ids[0], "mat_" + "0" * 26, "nonsense"):
        _enqueue(client, queues.RUN_ALONE, match_id)
    _enqueue(client, queues.RUN_DUE)
    _enqueue(client, "workers.jobs.no_such_job")
    _wait_until_idle(running)

    assert len(bots.desk.asked) == asked
    assert [running.match(match_id).epoch for match_id in match_ids] == epochs == [1, 1]
    assert len(running.workers) == 2
    running.check_all()


def test_K9_running_matches_go_on_without_redis_and_due_ones_when_it_is_back(running: Service, bots: Bots) -> None:
    bots.expect()
    playing = [running.arrange(options=LONG) for _ in range(6)]
    running.until(lambda: running.statuses().get("running") == 6 and len(bots.desk.answered) > 30, "play")

    assert running.redis_server is not None
    running.redis_server.kill()
    due = [running.arrange() for _ in range(4)]
    running.until_finished(playing)
    running.redis()
    running.until_finished(due)

    assert {running.match(match_id).epoch for match_id in playing} == {1}
    assert len(running.workers) == 2
    running.check_all()


def test_K11_workers_outlive_a_redis_that_refuses_writes(running: Service, bots: Bots) -> None:
    client, workers = running.client(), running.workers
    bots.expect(4)
    match_id = running.arrange()
    running.until(lambda: bots.desk.held_of(match_id), "a question that waits")
    running.until(lambda: reports.count_workers(client) == 2, "two workers")
    running.until(lambda: sum(bool(worker.horse) for worker in workers) == 1, "a worker that found nothing to do")
    (busy,) = (worker for worker in workers if worker.horse)  # the other may write nothing for a minute
    (failed,), (resumed,) = count([busy], "redis_writes_failed"), count([busy], "redis_writes_resumed")
    sizes = [process.log.stat().st_size for process in running.processes]

    client.config_set("maxmemory", "1")
    running.until(lambda: count([busy], "redis_writes_failed") == [failed + 1], "a complaint")
    bots.desk.holds = ()
    bots.release()
    running.until_finished([match_id])
    running.until(lambda: not any(worker.horse for worker in workers), "the end of the runner")
    due = running.arrange()
    assert check_redis(client) == "unwritable"

    client.config_set("maxmemory", "0")
    running.until_finished([due])
    running.until(lambda: count([busy], "redis_writes_resumed") == [resumed + 1], "relief")
    assert count([busy], "redis_writes_failed") == [failed + 1]
    said = [process.log.read_bytes()[size:] for process, size in zip(running.processes, sizes, strict=True)]
    assert not any(b"Traceback" in text for text in said)
    assert running.match(match_id).epoch == 1
    running.check_all()


def test_K11_workers_start_while_redis_is_away_or_refuses_writes_and_wait_and_also_stop_then(
    running: Service, bots: Bots
) -> None:
    client, old = running.client(), running.workers
    client.config_set("min-replicas-to-write", "1")
    assert [worker.terminate() for worker in old] == [0, 0]
    too_early = running.worker(REDIS_URL=f"unix://{running.folder}/redis")
    refused = running.worker()
    running.until(lambda: 0 not in count([too_early, refused], "redis_writes_failed"), "complaints")

    client.config_set("min-replicas-to-write", "0")
    (running.folder / "redis").symlink_to(running.socket)

    running.until(lambda: reports.count_workers(client) == 2, "both workers, registered")
    assert [worker.alive for worker in (too_early, refused)] == [True, True]


def count(workers: list[Process], event: str) -> list[int]:
    """Return how often each worker has said this, without its work-horses."""
    logs = [worker.log.read_text().splitlines() for worker in workers]
    return [sum(f'"{event}"' in line and '"runner"' not in line for line in log) for log in logs]


def _enqueue(client: Redis, function: str, *arguments: str) -> None:
    queues.queue(client).enqueue(function, *arguments, result_ttl=0, failure_ttl=0)


def _wait_until_idle(service: Service) -> None:
    waiting = queues.queue(service.client())
    service.until(lambda: waiting.count == 0 and not any(one.horse for one in service.workers), "empty hands")
