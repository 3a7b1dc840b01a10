"""K11: a Redis that answers but refuses writes. Running matches go on, and workers wait for it and say so."""

from collections.abc import Mapping

import pytest

from api.health.checks import check_redis
from tests.end_to_end.bots import Bots
from tests.end_to_end.processes import Process
from tests.end_to_end.service import Service
from workers import reports

REFUSALS: Mapping[str, tuple[str, str, str]] = {
    "no replica": ("min-replicas-to-write", "1", "0"),
    "no memory": ("maxmemory", "1", "0"),
}


def says(process: Process, event: str) -> int:
    """Return how often a worker has said this, without its work-horses."""
    lines = process.log.read_text().splitlines()
    return sum(f'"{event}"' in line and '"runner"' not in line for line in lines)


@pytest.mark.parametrize("kind", REFUSALS)
def test_K11_workers_outlive_a_redis_that_refuses_writes(service: Service, kind: str) -> None:
    setting, refusing, accepting = REFUSALS[kind]
    client = service.redis()
    scheduler = service.scheduler()
    with Bots(holds=(4,)) as bots:
        for name in ("random", "sound"):
            service.enlist(bots.serve(name))
        running = service.arrange()
        workers = [service.worker() for _ in range(2)]
        service.until(lambda: bots.desk.held_of(running), "a question that waits")
        service.until(lambda: reports.count_workers(client) == 2, "two workers")

        client.config_set(setting, refusing)
        service.until(lambda: all(says(worker, "redis_writes_failed") for worker in workers), "a complaint of both")
        bots.desk.holds = ()
        bots.release()
        service.until_finished([running])
        service.until(lambda: not any(worker.horse for worker in workers), "the end of the runner")
        due = service.arrange()
        assert check_redis(client) == "unwritable"

        client.config_set(setting, accepting)
        service.until_finished([due])
        service.until(lambda: all(says(worker, "redis_writes_resumed") for worker in workers), "relief of both")

    assert [says(worker, "redis_writes_failed") for worker in workers] == [1, 1]
    assert [worker.alive for worker in workers] == [True, True]
    client.config_set(setting, refusing)
    assert [worker.terminate() for worker in workers] == [0, 0]
    assert not any("Traceback" in process.log.read_text() for process in (*workers, scheduler))
    assert service.match(running).epoch == 1
    service.check_all([running, due])


def test_K11_a_worker_that_redis_has_forgotten_registers_again(service: Service) -> None:
    client = service.redis()
    service.worker()
    service.until(lambda: reports.count_workers(client) == 1, "a worker")

    client.flushall()

    service.until(lambda: reports.count_workers(client) == 1, "the same worker, registered again")


def test_K11_a_worker_that_starts_while_redis_is_away_or_refuses_writes_waits(service: Service) -> None:
    client = service.redis()
    client.config_set("min-replicas-to-write", "1")
    too_early = service.worker(REDIS_URL=f"unix://{service.folder}/redis")
    refused = service.worker()
    service.until(lambda: all(says(worker, "redis_writes_failed") for worker in service.workers), "complaints")

    client.config_set("min-replicas-to-write", "0")
    (service.folder / "redis").symlink_to(service.socket)

    service.until(lambda: reports.count_workers(client) == 2, "both workers, registered")
    assert [worker.alive for worker in (too_early, refused)] == [True, True]
