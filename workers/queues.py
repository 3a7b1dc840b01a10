"""Wake runners through the RQ queue.

The database determines what is due. A wake-up names no work, so no harm is done if it is lost, duplicated or late.
"""

import logging
import secrets
from collections.abc import Callable
from typing import Final

from redis import ConnectionPool, Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, results
from rq.job import Job
from rq.serializers import JSONSerializer

from referee.runtime.worker_pause import QUEUE as QUEUE

log = logging.getLogger(__name__)

RUN_DUE: Final = "workers.jobs.run_due"  # by name, so that the API need not import the jobs
RUN_ALONE: Final = "workers.jobs.run_alone"
WAITING: Final = 2  # wake-ups in the queue, so that two idle workers share new work; for one match it costs a fork
JOB_LIMIT_S: Final = 3600  # RQ's timeout, as a last resort; a runner ends long before it
FINISHED_KEPT_S: Final = 24 * 3600
FAILED_KEPT_S: Final = 7 * 24 * 3600
JOBS_KEPT: Final = 1000  # finished ones, and failed ones; see ``trim_history``
PROBE_S: Final = 1.0  # a runner claims nothing while it waits for the answer
_PROBE: Final = "referee:wake-up"


def connect(redis_url: str) -> Redis:
    """Return a client whose timeouts neither stall an API request nor interrupt RQ's blocking pop.

    RQ raises the read timeout on the connection of a worker.
    """
    return Redis.from_url(redis_url, socket_connect_timeout=2.0, socket_timeout=5.0)


def queue(connection: Redis) -> Queue:
    """Return the queue. It uses JSON, not pickle, so that write access to Redis does not allow code execution."""
    return Queue(QUEUE, connection=connection, serializer=JSONSerializer)


def wake(connection: Redis) -> bool:
    """Make runners look for due work soon. Return False if Redis is unreachable.

    Add wake-ups until enough are waiting, so that idle workers join those already playing.
    """
    runners = queue(connection)

    def fill_up(pipeline: Pipeline) -> None:
        waiting = sum(job_id.startswith("wake-") for job_id in runners.job_ids)
        pipeline.multi()
        for _ in range(waiting, WAITING):
            _enqueue(runners, pipeline, "wake", RUN_DUE)

    return _is_stored(lambda: connection.transaction(fill_up, runners.key))


def can_wake(connection: Redis) -> bool:
    """Return whether Redis stores something, as it must for a wake-up. Wait for a short time only."""
    pool = connection.connection_pool
    timeouts = dict.fromkeys(("socket_connect_timeout", "socket_timeout"), PROBE_S)
    probe = ConnectionPool(pool.connection_class, **{**pool.connection_kwargs, **timeouts})
    with Redis.from_pool(probe) as client:
        return _is_stored(lambda: client.set(_PROBE, b"", ex=60))


def wake_alone(connection: Redis, match_id: str) -> bool:
    """Request that one match be played in its own work-horse, unless a job for it waits or runs.

    Return False if Redis is unreachable.
    """
    runners = queue(connection)
    name = f"alone-{match_id}"

    def enqueue_once(pipeline: Pipeline) -> None:
        running = runners.started_job_registry.get_job_ids(cleanup=False)
        is_known = any(job_id.startswith(f"{name}-") for job_id in (*runners.job_ids, *running))
        pipeline.multi()
        if not is_known:
            _enqueue(runners, pipeline, name, RUN_ALONE, match_id)

    return _is_stored(lambda: connection.transaction(enqueue_once, runners.key))


def trim_history(runners: Queue, kept: int = JOBS_KEPT) -> None:
    """Delete the oldest jobs that have ended, so that at most ``kept`` finished and as many failed ones remain."""
    for registry in (runners.finished_job_registry, runners.failed_job_registry):
        if surplus := registry.get_job_ids(0, -kept - 1, cleanup=False):
            with runners.connection.pipeline() as pipeline:
                pipeline.zrem(registry.key, *surplus)
                pipeline.delete(*map(Job.key_for, surplus), *map(results.get_key, surplus))
                pipeline.execute()


def _is_stored(store: Callable[[], object]) -> bool:
    """Return whether Redis stored something. Log why it did not."""
    try:
        store()
    except RedisError as error:
        log.warning("wake_up_failed", extra={"reason": str(error)})
        return False
    return True


def _enqueue(runners: Queue, pipeline: Pipeline, name: str, function: str, *arguments: str) -> None:
    """Enqueue a job whose id begins with ``name``. No id is used twice, so a job that is kept blocks no other."""
    runners.enqueue(
        function,
        *arguments,
        job_id=f"{name}-{secrets.token_hex(8)}",
        description=" ".join(["runner", *arguments]),
        job_timeout=JOB_LIMIT_S,
        result_ttl=FINISHED_KEPT_S,
        failure_ttl=FAILED_KEPT_S,
        pipeline=pipeline,
    )
