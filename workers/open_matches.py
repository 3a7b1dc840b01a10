"""Show in the ``meta`` of an RQ job which matches its runner plays at the moment. Nothing depends on it."""

import logging
import threading
from collections.abc import Set
from typing import Any, Final

from redis import Redis
from redis.exceptions import RedisError
from rq.job import Job

log = logging.getLogger(__name__)

EVERY_S: Final = 3.0
MOST_LISTED: Final = 100


class OpenMatchesReporter:
    """Store the open matches every few seconds from a thread of its own, if they have changed, and none at ``stop``."""

    def __init__(self, job: Job, redis: Redis, open_matches: Set[str]) -> None:
        self._job = job
        self._redis = redis
        self._open_matches = open_matches
        self._reported: Any = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="open_matches", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Report that no match is open, and end the thread."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(EVERY_S):
            self._report(list(self._open_matches))
        if self._reported is not None:
            self._report([])

    def _report(self, match_ids: list[str]) -> None:
        meta = {"open_matches": len(match_ids), "matches": sorted(match_ids)[:MOST_LISTED]}
        if meta == self._reported:
            return
        try:
            if self._redis.exists(self._job.key):  # otherwise Redis has lost the job, and nobody would delete the rest
                self._redis.hset(self._job.key, "meta", self._job.serializer.dumps(meta))
                self._reported = meta
        except RedisError as error:
            log.debug("open_matches_not_reported", extra={"reason": str(error)})
