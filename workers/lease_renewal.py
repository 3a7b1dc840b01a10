"""Renew the leases of running matches from a background thread, so that a busy event loop does not lose them."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from referee.db.engine import Database
from referee.errors import Unavailable
from referee.matches.queue import claims
from referee.matches.queue.claims import Claim

log = logging.getLogger(__name__)

RENEW_S = 3.0


class LeaseRenewer:
    """Renew registered claims every ``RENEW_S`` seconds. Cancel the task of a match whose claim was lost."""

    def __init__(self, database: Database, *, renew_s: float = RENEW_S) -> None:
        self._database = database
        self._renew_s = renew_s
        self._tasks: dict[Claim, asyncio.Task[None]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._renew_loop, name="leases", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    @contextmanager
    def keep_claim(self, claim: Claim) -> Iterator[None]:
        """Keep ``claim`` renewed while the block runs. Cancel the current task if another runner claims the match."""
        task = asyncio.current_task()
        assert task is not None
        with self._lock:
            self._tasks[claim] = task
        try:
            yield
        finally:
            with self._lock:
                self._tasks.pop(claim, None)

    def _renew_loop(self) -> None:
        while not self._stopped.wait(self._renew_s):
            with self._lock:
                tasks = dict(self._tasks)
            try:
                with self._database.write(durable=False) as session:
                    still_valid = claims.renew_claims(session, tasks)
            except Unavailable as error:
                log.warning("lease_renewal_failed", extra={"reason": str(error)})
                continue
            except Exception:  # last resort of this thread: if it ended, every match of this runner would be lost
                log.exception("lease_renewal_failed")
                continue
            for claim, task in tasks.items():
                if claim.match_id not in still_valid:
                    self._loop.call_soon_threadsafe(self._cancel_lost, claim, task)

    def _cancel_lost(self, claim: Claim, task: asyncio.Task[None]) -> None:
        # Check again, because the match and its claim may have ended since the renewal.
        with self._lock:
            lost = self._tasks.pop(claim, None) is not None
        if lost:
            log.info("claim_lost", extra={"match": claim.match_id})
            task.cancel()
