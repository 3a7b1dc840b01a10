"""The queue as everybody but the workers sees it: wake a runner, by name, and forget it.

What is due stands in the record; a wake-up carries no match and may be lost, doubled or late without harm.
"""

import logging
from typing import Final

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

log = logging.getLogger(__name__)

QUEUE: Final = "referee"  # one queue: only then does RQ keep a job whose worker dies between pop and start
RUN_DUE: Final = "workers.jobs.run_due"  # by name, so that the API need not import the jobs
RUN_ALONE: Final = "workers.jobs.run_alone"
WAKE_SLOTS: Final = 32  # wake-ups known to Redis at once, waiting or being worked on
WAKE_AT_ONCE: Final = 2  # so that two idle workers share what came at once; for one match it costs a fork
JOB_LIMIT_S: Final = 3600  # RQ's alarm, the last resort; a runner ends itself long before


def connect(redis_url: str) -> Redis:
    """A client with time limits that neither stall a request nor cut RQ's blocking pop.

    RQ raises the read limit on a worker's own connection.
    """
    return Redis.from_url(redis_url, socket_connect_timeout=2.0, socket_timeout=5.0)


def queue(connection: Redis) -> Queue:
    """The one queue, in JSON: whoever can write to Redis cannot thereby run code of his own."""
    return Queue(QUEUE, connection=connection, serializer=JSONSerializer)


def wake(connection: Redis) -> bool:
    """Sees to it that runners look at the record soon; False when Redis cannot be reached.

    1. Wake-ups that still wait will do.
    2. Else the first free slots take new ones, so that idle workers join those that are already playing.
    3. All slots taken: as many runners as we can have are at it.
    """
    try:
        runners = queue(connection)
        waiting = runners.count
        for slot in range(WAKE_SLOTS):
            if waiting >= WAKE_AT_ONCE:
                break
            waiting += _enqueue(runners, f"wake-{slot}", RUN_DUE)
        return True
    except RedisError as error:
        log.warning("redis unreachable, no runner woken", extra={"error": str(error)})
        return False


def wake_alone(connection: Redis, match_id: str) -> bool:
    """Asks for one match to be played in a work-horse of its own; False when Redis cannot be reached."""
    try:
        _enqueue(queue(connection), f"alone-{match_id}", RUN_ALONE, match_id)
    except RedisError as error:
        log.warning("redis unreachable, match not sent", extra={"match": match_id, "error": str(error)})
        return False
    return True


def _enqueue(runners: Queue, job_id: str, function: str, *arguments: str) -> bool:
    """Whether the job is new. Nothing of it stays in Redis after its end: the id would be refused as taken."""
    try:
        runners.enqueue(
            function,
            *arguments,
            job_id=job_id,
            unique=True,
            job_timeout=JOB_LIMIT_S,
            result_ttl=0,
            failure_ttl=0,
        )
    except DuplicateJobError:
        return False
    return True
