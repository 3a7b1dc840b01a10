"""A worker process: it waits for wake-ups and forks a work-horse for each. What a horse does is in ``jobs``.

``python -m workers.worker`` imports everything before it forks: 15 ms a job instead of 350.
"""

import gc
import logging
import os
import signal
import sys
import time

from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.job import Job
from rq.serializers import JSONSerializer

from referee.db.engine import Database
from referee.db.revisions import usable_at_start
from referee.runtime import logging_setup, parent_death
from referee.settings import Settings
from workers import (
    jobs,  # noqa: F401  # loaded here, so that every horse has it from birth
    queues,
    shutdown,
)
from workers.rq_job import WakeUp

log = logging.getLogger(__name__)

MONITORING_S = 3  # between two heartbeats of a horse at work
LOST_AFTER = 3  # heartbeats missed until a job counts as abandoned
WORKER_TTL_S = 20  # RQ blocks for 15 s less; an idle worker cleans up only when that returns
MAINTENANCE_S = 5
RECONNECT_S = 1.0


class RunnerWorker(Worker):
    """RQ's forking worker, quick to notice the dead, with horses that neither outlive it nor stop at random."""

    max_connection_wait_time = 2.0  # Redis may be away; be back soon after it

    def get_heartbeat_ttl(self, job: Job) -> int:
        """RQ adds a minute to every interval; three missed heartbeats are proof enough."""
        return LOST_AFTER * MONITORING_S

    def maintain_heartbeats(self, job: Job) -> None:
        """A horse needs no Redis for the matches it holds, so a silent Redis must not cost it its worker."""
        try:
            super().maintain_heartbeats(job)
        except RedisError as error:
            log.warning("no heartbeat, redis unreachable", extra={"error": str(error)})

    def set_current_job_working_time(self, current_job_working_time: float, pipeline: Pipeline | None = None) -> None:
        """Said to Redis for show, between any two looks at the horse."""
        try:
            super().set_current_job_working_time(current_job_working_time, pipeline)
        except RedisError as error:
            log.debug("working time not shown, redis unreachable", extra={"error": str(error)})

    def execute_job(self, job: Job, queue: Queue) -> None:
        """When Redis is away at the end of a horse, the wake-up is lost, not the worker: the scheduler repeats it."""
        try:
            super().execute_job(job, queue)
        except RedisError as error:
            if self.horse_pid:
                raise
            log.warning("end of a job not noted, redis unreachable", extra={"error": str(error)})
            self._wait_for_redis()

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        self._parent = os.getpid()
        super().fork_work_horse(job, queue)
        if self._stop_requested:  # told before there was a horse to pass it on to
            self.handle_warm_shutdown_request()

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Ties the horse to its worker before it touches anything: an orphan would play beside its successor."""
        parent_death.tie(self._parent, signal.SIGKILL)
        shutdown.listen()
        super().main_work_horse(job, queue)

    def handle_warm_shutdown_request(self) -> None:
        """Passes the word on to the horse alone; its process group may not be its own yet."""
        if self.horse_pid:
            try:
                os.kill(self.horse_pid, shutdown.SIGNAL)
            except ProcessLookupError:
                log.debug("the horse was already done")

    def _wait_for_redis(self) -> None:
        while not self._stop_requested:
            try:
                self.connection.ping()
            except RedisError:
                time.sleep(RECONNECT_S)
            else:
                return


def main() -> int:
    """Works until told to stop; the exit status says whether there was anything to connect to."""
    logging_setup.keep()
    settings = Settings.load()
    if settings.redis_url is None:
        log.error("REDIS_URL is not set; `referee up` sets it for the workers it starts")
        return 2
    if not usable_at_start(Database.from_settings(settings)):
        return 2
    worker = RunnerWorker(
        queues.QUEUE,
        connection=queues.connect(settings.redis_url),
        job_class=WakeUp,
        serializer=JSONSerializer,
        worker_ttl=WORKER_TTL_S,
        maintenance_interval=MAINTENANCE_S,
        job_monitoring_interval=MONITORING_S,
    )
    gc.freeze()  # what is here stays, and a horse shares its memory as long as nobody looks through it for garbage
    worker.work(logging_level="WARNING")
    return 0


if __name__ == "__main__":
    sys.exit(main())
