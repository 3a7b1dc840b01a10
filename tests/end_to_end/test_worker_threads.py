"""A worker has a single thread when it forks: a lock that another one holds would stay locked in the work-horse."""

import signal
from pathlib import Path

from tests.end_to_end.bots import Bots
from tests.end_to_end.processes import Process, send
from tests.end_to_end.service import Service


def test_a_worker_forks_from_a_single_thread_also_after_a_work_horse_was_lost(service: Service) -> None:
    with Bots(holds=(4,)) as bots:
        service.redis()
        service.scheduler()
        for name in ("random", "sound"):
            service.enlist(bots.serve(name))
        match_id = service.arrange()
        worker = service.worker("tests.end_to_end.patient_worker")
        first: int = service.until(lambda: worker.horse, "a work-horse")
        threads = [count_threads(worker)]
        service.until(lambda: bots.desk.held_of(match_id), "a question that waits")
        send(first, signal.SIGKILL)
        service.until(lambda: worker.horse not in (None, first), "another work-horse")
        threads.append(count_threads(worker))
        service.until_finished([match_id])

    assert threads == [1, 1]
    service.check_all([match_id])


def count_threads(process: Process) -> int:
    return len(list(Path(f"/proc/{process.pid}/task").iterdir()))
