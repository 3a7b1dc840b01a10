"""What users of RQ see of the runners: `rq info`, and the jobs with description and result."""

import re
import signal
import subprocess
import sys

from rq.job import Job
from rq.registry import BaseRegistry

from tests.end_to_end.bots import Bots
from tests.end_to_end.processes import send
from tests.end_to_end.service import Service
from workers import queues

WORKER = "tests.end_to_end.patient_worker"


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


def test_rq_shows_runners_that_have_ended_and_those_that_died(service: Service) -> None:
    runners = queues.queue(service.redis())
    service.scheduler()
    with Bots(holds=(4,)) as bots:
        for name in ("random", "sound"):
            service.enlist(bots.serve(name))
        match_id = service.arrange()
        worker = service.worker(WORKER)
        service.until(lambda: bots.desk.held_of(match_id), "a question that waits")
        send(worker.horse or 0, signal.SIGKILL)
        bots.desk.holds = ()
        service.until_finished([match_id])
        service.until(lambda: runners.finished_job_registry.get_job_ids(), "a finished job")

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
        client = service.client()
        assert 0 < client.ttl(ended.key) <= queues.FINISHED_KEPT_S < client.ttl(died.key) <= queues.FAILED_KEPT_S

        another = service.arrange()
        service.until_finished([another])
        service.until(lambda: read_rq_info(service) == (2, 1), "another finished job")

    assert worker.alive
    service.check_all([match_id, another])
