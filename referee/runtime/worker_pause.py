"""Pause workers and schedulers on all hosts while the schema is upgraded, by suspending RQ."""

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.suspension import WORKERS_SUSPENDED, is_suspended

from referee.errors import RefereeError

QUEUE: Final = "referee"  # a single queue: with several, RQ loses a job whose worker dies between pop and start
PATIENCE_S: Final = 60.0  # a runner releases its matches within a few seconds; the job of a dead one expires after 9 s
_KEPT_S: Final = 180  # then workers go on, in case the process that paused them was killed
_RENEW_S: Final = 30.0
_SHORTEST_PAUSE_S: Final = 3.0  # before the block, so that schedulers notice the pause: they look every second
_LOOK_S: Final = 0.1


class NotPaused(RefereeError):
    """Report that workers could not be stopped, so that nothing was done. The message says what to do."""


def is_paused(redis: Redis) -> bool:
    """Return whether workers and schedulers must pause. Return False if Redis does not answer."""
    with suppress(RedisError):
        return bool(is_suspended(redis))
    return False


@contextmanager
def pause_workers(redis_url: str, *, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Let workers start no runner, and schedulers begin nothing, during the block.

    The block starts after at least three seconds, once all runners have released their matches. A pause that another
    process began, such as ``rq suspend``, continues after the block.

    Raise ``NotPaused`` if Redis does not answer or stores nothing, or if runners still play after ``patience_s``
    seconds.
    """
    with Redis.from_url(redis_url, socket_connect_timeout=2.0, socket_timeout=5.0) as redis:
        own = secrets.token_hex(8)
        ended = threading.Event()
        renewal = threading.Thread(target=_renew, args=(redis, own, ended), name="pause", daemon=True)
        try:
            try:
                redis.set(WORKERS_SUSPENDED, own, nx=True, ex=_KEPT_S)
                renewal.start()
                _wait_for_runners(redis, patience_s)
            except RedisError as error:
                raise NotPaused(
                    f"Nothing was upgraded: Redis does not answer or cannot store anything ({error}), so workers that "
                    "may be playing cannot be stopped. Mend Redis; or stop all workers, unset REDIS_URL, and upgrade "
                    "again."
                ) from error
            yield
        finally:
            ended.set()
            with suppress(RedisError):  # the pause ends by itself
                if _is_own(redis, own):
                    redis.delete(WORKERS_SUSPENDED)


def _renew(redis: Redis, own: str, ended: threading.Event) -> None:
    while not ended.wait(_RENEW_S):
        with suppress(RedisError):
            if _is_own(redis, own):
                redis.expire(WORKERS_SUSPENDED, _KEPT_S)


def _is_own(redis: Redis, own: str) -> bool:
    return bool(redis.get(WORKERS_SUSPENDED) == own.encode())


def _wait_for_runners(redis: Redis, patience_s: float) -> None:
    began = time.monotonic()
    while (runners := _count_runners(redis)) or time.monotonic() < began + _SHORTEST_PAUSE_S:
        if time.monotonic() > began + patience_s:
            raise NotPaused(
                f"Nothing was upgraded: {runners} of the workers still play {patience_s:.0f} s after the upgrade asked "
                "them to stop. Stop all workers, and upgrade again."
            )
        time.sleep(_LOOK_S)


def _count_runners(redis: Redis) -> int:
    """Count the jobs in progress whose workers are alive, which renew the time until which a job counts."""
    registry = Queue(QUEUE, connection=redis).started_job_registry
    return int(redis.zcount(registry.key, time.time(), "inf"))
