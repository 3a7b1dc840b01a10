"""Holding claims on: a thread of its own renews the leases, so that a busy event loop loses none."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from referee.db.engine import Database
from referee.errors import Unavailable
from referee.matches import claims
from referee.matches.claims import Claim

log = logging.getLogger(__name__)

RENEW_S = 3.0


class LeaseRenewer:
    """Renews what is held every ``RENEW_S`` seconds and cancels the tasks of matches that were lost."""

    def __init__(self, database: Database, *, renew_s: float = RENEW_S) -> None:
        self._database = database
        self._renew_s = renew_s
        self._held: dict[Claim, asyncio.Task[None]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._renew_for_ever, name="leases", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    @contextmanager
    def holding(self, claim: Claim) -> Iterator[None]:
        """Holds the claim while the block runs; a lost one cancels the task that runs it."""
        task = asyncio.current_task()
        assert task is not None
        with self._lock:
            self._held[claim] = task
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(claim, None)

    def _renew_for_ever(self) -> None:
        while not self._stopped.wait(self._renew_s):
            with self._lock:
                held = dict(self._held)
            try:
                with self._database.write(durable=False) as session:
                    ours = claims.renew(session, held)
            except Unavailable as error:
                log.warning("leases not renewed", extra={"reason": str(error)})
                continue
            except Exception:  # the outermost line of this thread: without it every match here would be lost
                log.exception("leases not renewed")
                continue
            for claim, task in held.items():
                if claim.match_id not in ours:
                    self._loop.call_soon_threadsafe(self._lose, claim, task)

    def _lose(self, claim: Claim, task: asyncio.Task[None]) -> None:
        # Looked up again: the match may have ended, and with it its claim, since it was asked for.
        with self._lock:
            lost = self._held.pop(claim, None) is not None
        if lost:
            log.info("claim lost", extra={"match": claim.match_id})
            task.cancel()
