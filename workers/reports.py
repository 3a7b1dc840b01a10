"""Tell through Redis what processes know of themselves, for ``/readyz``: whether the queue moves, what workers lack.

Reports expire, so nothing remains of a process that died. Without Redis nothing is reported.
"""

import json
import logging
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from redis import Redis
from redis.exceptions import RedisError
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

from workers.queues import QUEUE

log = logging.getLogger(__name__)

_QUEUE_KEY: Final = "referee:queue"
QUEUE_EXPIRES_S: Final = 60  # after which no scheduler counts as watching the queue
SHORTAGE_EXPIRES_S: Final = 60


@dataclass(frozen=True, slots=True)
class QueueReport:
    """Say for how many seconds due work of a kind has waited although runners could claim it, or None if all moves."""

    stalled_s: int | None
    what: str = "matches"


@dataclass(frozen=True, slots=True)
class Reports:
    """Hold what is reported now: the number of workers, what some of them lack, and the state of the queue."""

    workers: int
    shortages: list[str]
    queue: QueueReport | None  # None if no scheduler watches it


def report_queue(redis: Redis, report: QueueReport) -> None:
    """Report the state of the queue, as a scheduler sees it."""
    _set(redis, _QUEUE_KEY, json.dumps(asdict(report)), QUEUE_EXPIRES_S)


def report_shortage(redis: Redis, worker_key: str, reason: str) -> None:
    """Report that a worker lacks file descriptors, threads or memory."""
    _set(redis, _shortage_key(worker_key), reason, SHORTAGE_EXPIRES_S)


def count_workers(redis: Redis) -> int | None:
    """Return the number of workers that have sent a heartbeat recently, or None if Redis does not answer."""
    try:
        keys = _worker_keys(redis)
        return int(redis.exists(*keys)) if keys else 0
    except RedisError as error:
        log.debug("workers_not_counted", extra={"reason": str(error)})
        return None


def read_reports(redis: Redis) -> Reports:
    """Return all reports. Raise ``RedisError`` if Redis does not answer."""
    keys = _worker_keys(redis)
    with redis.pipeline(transaction=False) as pipeline:
        pipeline.exists(*keys, "referee:none")
        pipeline.mget([_QUEUE_KEY, *map(_shortage_key, keys)])
        workers, (queue, *shortages) = pipeline.execute()
    told = sorted({found.decode(errors="replace") for found in shortages if found is not None})
    return Reports(int(workers), told, _parse_queue(queue))


def matches_stalled_s(redis: Redis | None) -> int | None:
    """Return for how many seconds due matches have waited, if a scheduler reports a stall and Redis answers."""
    try:
        report = None if redis is None else _parse_queue(cast(bytes | None, redis.get(_QUEUE_KEY)))
    except RedisError as error:
        log.debug("queue_report_not_read", extra={"reason": str(error)})
        return None
    return report.stalled_s if report is not None and report.what == "matches" else None


def _parse_queue(stored: bytes | None) -> QueueReport | None:
    try:
        return None if stored is None else QueueReport(**json.loads(stored))
    except (ValueError, TypeError):  # written by another version
        return None


def _worker_keys(redis: Any) -> list[str]:
    return sorted(key.decode() for key in redis.smembers(WORKERS_BY_QUEUE_KEY % QUEUE))


def _shortage_key(worker_key: str) -> str:
    return f"referee:shortage:{worker_key}"


def _set(redis: Redis, key: str, text: str, expires_s: int) -> None:
    try:
        redis.set(key, text, ex=expires_s)
    except RedisError as error:
        log.debug("report_not_stored", extra={"key": key, "reason": str(error)})
