"""K1 to K3: matches of a work-horse that died go on immediately, though every lease lasts an hour.

Also what users of RQ see then (`rq info`, jobs with description and result), and that a worker forks from
a single thread: a lock that another one holds would stay locked in the work-horse.
"""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rq.job import Job
from rq.registry import BaseRegistry

from referee.matches.queue.claims import LOST_BEFORE_ISOLATED
from tests.end_to_end.bots import Bots
from tests.end_to_end.processes import Process, send
from tests.end_to_end.service import Service
from workers import queues

WORKER = "tests.end_to_end.patient_worker:main"


@pytest.fixture(scope="module")
def worker(service: Service, bots: Bots) -> Process:
    return service.worker(WORKER)


def held_question(service: Service, bots: Bots, match_id: str, number: int) -> str:
    """Wait until this many questions of the match have been kept waiting, and return the last one's id."""
    service.until(lambda: len(bots.desk.held_of(match_id)) == number, f"question {number} that waits")
    return bots.desk.held_of(match_id)[-1]


def horse_of(service: Service, worker: Process) -> int:
    horse: int = service.until(lambda: worker.horse, "a work-horse")
    return horse


def count_threads(process: Process) -> int:
    return len(list(Path(f"/proc/{process.pid}/task").iterdir()))


def read_rq_info(service: Service) -> tuple[int, int]:
    """Return the numbers of finished and failed jobs that `rq info` shows."""
    command = [sys.executable, "-m", "rq.cli", "info", "--raw", "--url", service.environment["REDIS_URL"]]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, cwd=service.folder).stdout
    found = re.search(r"^queue referee \d+, \d+ executing, (\d+) finished, (\d+) failed$", shown, re.MULTILINE)
    assert found, shown
    return int(found[1]), int(found[2])


def only_job(service: Service, registry: BaseRegistry) -> Job:
    (job_id,) = registry.get_job_ids()
    job = queues.queue(service.client()).fetch_job(job_id)
    assert job is not None
    return job


def test_rq_shows_runners_that_have_ended_and_those_that_died_of_a_worker_with_one_thread(
    service: Service, bots: Bots, worker: Process
) -> None:
    client = service.client()
    runners = queues.queue(client)
    bots.expect(4)
    match_id = service.arrange()
    held_question(service, bots, match_id, 1)
    first, threads = horse_of(service, worker), [count_threads(worker)]
    send(first, signal.SIGKILL)
    service.until(lambda: worker.horse not in (None, first), "another work-horse")
    threads.append(count_threads(worker))
    service.until_finished([match_id])
    service.until(lambda: runners.finished_job_registry.get_job_ids(), "a finished job")

    assert threads == [1, 1]
    assert read_rq_info(service) == (1, 1)
    died, ended = (only_job(service, kept) for kept in (runners.failed_job_registry, runners.finished_job_registry))
    assert died.description == "runner"
    failure = died.latest_result()
    assert failure is not None
    assert "signal 9" in (failure.exc_string or "")
    assert ended.description == "runner: 1 match"
    result = dict(ended.return_value() or {})
    assert result.pop("decisions") > 0
    nothing = dict.fromkeys(("handed_over", "failed", "handshakes", "checks"), 0)
    assert result == {"matches": 1, **nothing, "ended": "nothing_due"}
    assert 0 < client.ttl(ended.key) <= queues.FINISHED_KEPT_S < client.ttl(died.key) <= queues.FAILED_KEPT_S

    bots.expect()
    service.until_finished([service.arrange()])
    service.until(lambda: read_rq_info(service) == (2, 1), "another finished job")
    service.check_all()


def test_K3_a_match_goes_on_as_soon_as_its_horse_is_killed_and_alone_when_it_was_lost_twice(
    service: Service, bots: Bots, worker: Process
) -> None:
    bots.expect(4, 8, 12)
    match_id = service.arrange()
    found = []
    for number in range(1, LOST_BEFORE_ISOLATED + 1):
        held_question(service, bots, match_id, number)
        send(horse_of(service, worker), signal.SIGKILL)
        held_question(service, bots, match_id, number + 1)
        stored = service.match(match_id)
        found.append((stored.epoch, stored.lost_claims, stored.claims_without_progress))
    bots.release()
    service.until_finished([match_id])

    assert found == [(2, 1, 0), (3, 2, 0)]  # after two losses only a work-horse of its own may claim it
    assert worker.alive
    service.check_all()


def test_K3_all_matches_of_a_killed_horse_go_on_on_other_workers(service: Service, bots: Bots, worker: Process) -> None:
    bots.expect(4)
    matches = [service.arrange() for _ in range(4)]
    for match_id in matches:
        held_question(service, bots, match_id, 1)
    horse = horse_of(service, worker)
    send(worker.pid, signal.SIGSTOP)  # it cannot fork another, but learns of the death when it continues
    second = service.worker(WORKER)
    send(horse, signal.SIGKILL)
    send(worker.pid, signal.SIGCONT)
    service.until_finished(matches)

    assert all((service.match(match_id).epoch, service.match(match_id).lost_claims) == (2, 1) for match_id in matches)
    assert second.alive
    service.check_all()


def test_K1_a_worker_that_starts_frees_the_matches_of_one_that_died_with_its_horse(
    service: Service, bots: Bots, worker: Process
) -> None:
    assert worker.alive
    bots.expect(4)
    match_id = service.arrange()
    held_question(service, bots, match_id, 1)
    for pid in [pid for worker in service.workers for pid in (worker.pid, worker.horse) if pid]:
        send(pid, signal.SIGKILL)
    service.worker(WORKER)
    service.until_finished([match_id])

    assert (service.match(match_id).epoch, service.match(match_id).lost_claims) == (2, 1)
    service.check_all()
    assert len(list((service.folder / "claims").iterdir())) == 1  # that of the worker at work
