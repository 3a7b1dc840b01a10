"""Wake runners through the RQ queue.

The database determines what is due. A wake-up names no work, so it may be lost, duplicated or late without harm.
"""

import logging
from typing import Final

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.job import Job
from rq.serializers import JSONSerializer

log = logging.getLogger(__name__)

QUEUE: Final = "referee"  # a single queue: with several, RQ loses a job whose worker dies between pop and start
RUN_DUE: Final = "workers.jobs.run_due"  # by name, so that the API need not import the jobs
RUN_ALONE: Final = "workers.jobs.run_alone"
WAKE_SLOTS: Final = 32  # wake-ups in Redis at the same time, waiting or running
JOBS_PER_WAKE: Final = 2  # so that two idle workers share new work; for a single match this costs a fork
JOB_LIMIT_S: Final = 3600  # RQ's timeout, as a last resort; a runner ends long before it


def connect(redis_url: str) -> Redis:
    """Return a client whose timeouts neither stall an API request nor interrupt RQ's blocking pop.

    RQ raises the read timeout on the connection of a worker.
    """
    return Redis.from_url(redis_url, socket_connect_timeout=2.0, socket_timeout=5.0)


def queue(connection: Redis) -> Queue:
    """Return the queue. It uses JSON, not pickle, so that write access to Redis does not mean code execution."""
    return Queue(QUEUE, connection=connection, serializer=JSONSerializer)


def wake(connection: Redis) -> bool:
    """Make runners look for due work soon. Return False when Redis is unreachable.

    1. If enough wake-ups are waiting, add none.
    2. Otherwise put new ones into the first free slots, so that idle workers join those already playing.
    3. If all slots are taken, add none: as many runners as possible are at work.
    """
    try:
        runners = queue(connection)
        waiting = runners.count
        for slot in range(WAKE_SLOTS):
            if waiting >= JOBS_PER_WAKE:
                break
            waiting += _enqueue(runners, f"wake-{slot}", RUN_DUE)
        return True
    except RedisError as error:
        log.warning("wake_up_failed", extra={"reason": str(error)})
        return False


def wake_alone(connection: Redis, match_id: str) -> bool:
    """Request that one match be played in its own work-horse. Return False when Redis is unreachable."""
    try:
        _enqueue(queue(connection), f"alone-{match_id}", RUN_ALONE, match_id)
    except RedisError as error:
        log.warning("wake_up_failed", extra={"match": match_id, "reason": str(error)})
        return False
    return True


def _enqueue(connection: Queue, job_id: str, function: str, *arguments: str) -> bool:
    """Enqueue a job unless its id exists. Return whether it is new.

    RQ deletes a job when it ends: otherwise its id would be refused as taken. Delete what is left of a job that Redis
    has lost, so that the next attempt succeeds: a worker may write a heartbeat afterwards, which nobody would delete.
    """
    try:
        connection.enqueue(
            function,
            *arguments,
            job_id=job_id,
            unique=True,
            job_timeout=JOB_LIMIT_S,
            result_ttl=0,
            failure_ttl=0,
        )
    except DuplicateJobError:
        key = Job.key_for(job_id)
        if not connection.connection.hexists(key, "data"):
            connection.connection.delete(key)
        return False
    return True
