"""Wait for wake-ups and fork a work-horse for each. ``jobs`` does the work.

``python -m workers.worker`` imports everything before it forks, so that a job starts in 15 ms instead of 350 ms.
"""

import gc
import logging
import os
import signal
import sys
import time
from resource import struct_rusage

from redis.exceptions import RedisError
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from referee.db.engine import Database
from referee.db.revisions import is_usable_at_start
from referee.runtime import logging_setup, parent_death, worker_pause
from referee.runtime.log_context import set_process_fields
from referee.runtime.open_files import OpenFilesWatch, count_open_files
from referee.runtime.starting import load_settings_at_start
from referee.settings import shorten_resolver_timeouts
from workers import claim_file, jobs, queues, reports, shutdown
from workers.claim_file import ClaimFile
from workers.rq_job import WakeUp
from workers.tolerant_worker import RECONNECT_S, TolerantWorker

log = logging.getLogger(__name__)

MONITORING_S = 3  # interval between two heartbeats while a work-horse runs
LOST_AFTER = 3  # missed heartbeats after which a job counts as abandoned
WORKER_TTL_S = 20  # RQ's blocking pop lasts 15 s less; an idle worker cleans up only when it returns
MAINTENANCE_S = 5


class RunnerWorker(TolerantWorker):
    """Extend RQ's forking worker: detect dead workers fast, and let work-horses stop gracefully with their worker."""

    max_connection_wait_time = 2.0  # reconnect soon after Redis is back
    claim_file: ClaimFile | None = None
    database: Database
    _files: OpenFilesWatch  # of the work-horse
    _horse_status: int | None = None  # of the last work-horse, as ``os.wait4`` returns it

    def subscribe(self) -> None:
        """Start no thread for RQ's remote commands, which the service does not use.

        A process that forks must have one thread, because a lock that another thread holds stays locked in the child.
        """

    def get_heartbeat_ttl(self, job: Job) -> int:
        """Return the seconds for which a heartbeat is valid: three intervals. RQ's default would be a minute longer."""
        return LOST_AFTER * MONITORING_S

    def run_maintenance_tasks(self) -> None:
        """Clean up after dead workers, and bound the history of jobs."""
        super().run_maintenance_tasks()
        with self.redis_writes.tolerate():
            for queue in self.queues:
                queues.trim_history(queue)

    def maintain_heartbeats(self, job: Job) -> None:
        """Send heartbeats while a work-horse runs, and watch what it cannot watch itself."""
        jobs.watch_clock()
        self._check_files()
        if worker_pause.is_paused(self.connection):
            self.handle_warm_shutdown_request()
        super().maintain_heartbeats(job)

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run a job. If Redis fails before it begins, only the wake-up is lost, and the scheduler repeats it."""
        try:
            super().execute_job(job, queue)
        except RedisError as error:
            if self.horse_pid:
                raise
            self.redis_writes.note_failure(error)
            self._wait_for_redis()

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        self._parent = os.getpid()
        jobs.watch_clock()
        super().fork_work_horse(job, queue)
        if self._stop_requested:  # the request arrived before the work-horse was forked
            self.handle_warm_shutdown_request()

    def wait_for_horse(self) -> tuple[int | None, int | None, struct_rusage | None]:
        found = super().wait_for_horse()
        self._horse_status = found[1]
        return found

    def monitor_work_horse(self, job: Job, queue: Queue) -> None:
        """Wait for the end of the work-horse. If it died, let others take over its matches immediately."""
        self._horse_status = None
        self._files = OpenFilesWatch()
        try:
            super().monitor_work_horse(job, queue)
        finally:
            if self.claim_file is not None and self._horse_status is not None:
                if self._horse_status == os.EX_OK:
                    self.claim_file.clear()
                else:
                    self.claim_file.expire(self.database)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Run the work-horse. Make it die with its worker, because an orphan would play alongside its successor."""
        parent_death.set_parent_death_signal(self._parent, signal.SIGKILL)
        set_process_fields(runner=f"{self.name[:8]}-{os.getpid()}")
        shutdown.listen()
        jobs.report_shortages(self._report_shortage)
        super().main_work_horse(job, queue)

    def handle_warm_shutdown_request(self) -> None:
        """Pass the stop request on to the work-horse alone, which may not have its own process group yet."""
        if self.horse_pid:
            try:
                os.kill(self.horse_pid, shutdown.SIGNAL)
            except ProcessLookupError:
                log.debug("work_horse_already_ended")

    def _check_files(self) -> None:
        """Report if the work-horse has few file descriptors left. It could not tell this itself once it has none."""
        files = count_open_files(self.horse_pid) if self.horse_pid else None
        self._files.note(files)
        if files is not None and files.is_low:
            self._report_shortage(f"{files.open} of {files.limit} file descriptors are open")

    def _report_shortage(self, reason: str) -> None:
        reports.report_shortage(self.connection, self.key, reason)

    def _wait_for_redis(self) -> None:
        while not self._stop_requested:
            try:
                self.connection.ping()
            except RedisError as error:
                self.redis_writes.note_failure(error)
                time.sleep(RECONNECT_S)
            else:
                return


def main() -> int:
    """Run a worker until a stop signal.

    Return the exit status: 0, or 2 if the settings or the database are unusable.
    """
    logging_setup.configure()
    settings = load_settings_at_start()
    if settings is None:
        return 2
    if settings.redis_url is None:
        log.error("REDIS_URL is not set. Set it, or use `referee up`, which sets it for the workers that it starts.")
        return 2
    database = Database.from_settings(settings)
    if not is_usable_at_start(database):
        return 2
    jobs.preload(database)
    worker = RunnerWorker(
        queues.QUEUE,
        connection=queues.connect(settings.redis_url),
        job_class=WakeUp,
        serializer=JSONSerializer,
        worker_ttl=WORKER_TTL_S,
        maintenance_interval=MAINTENANCE_S,
        job_monitoring_interval=MONITORING_S,
    )
    shorten_resolver_timeouts()
    worker.database = database
    worker.claim_file = claim_file.open_for_worker(settings, database)
    gc.freeze()  # work-horses share this memory as long as no garbage collection touches it
    worker.work(logging_level="WARNING")
    if worker.claim_file is not None:
        worker.claim_file.delete()
    return 0


if __name__ == "__main__":
    sys.exit(main())
