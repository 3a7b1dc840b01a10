"""Notice that due matches wait although runners could claim them, log it, and report it for ``/readyz``.

Matches that wait for full or paused bots, for their share or for a free slot are not stalled: see ``queue_progress``.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from redis import Redis

from referee.db.engine import Database
from referee.matches.queue_progress import QueueProgress, load_progress
from referee.matches.shares import Pool, slot_shares
from workers import reports
from workers.reports import QueueReport

LOOK_EVERY_S: Final = 5.0
STALLED_AFTER_S: Final = 30.0  # longer than a lease, after which the matches of a lost runner are taken over
MAX_GAP_S: Final = 20.0  # between two looks; after a longer one, for example without a database, waiting begins again

log = logging.getLogger(__name__)


class QueueWatch:
    """Watch the queue of one service, whose runners have ``slots`` slots each."""

    def __init__(self, redis: Redis, slots: int, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._redis = redis
        self._slots = slots
        self._seconds = seconds
        self._look_at = float("-inf")
        self._last: QueueProgress | None = None
        self._waits_since: float | None = None
        self._is_sure = False  # whether a match began, or none waited, since this watch began or had a gap
        self._is_stalled = False

    def step(self, database: Database) -> None:
        """Look at the queue, unless the last look was a moment ago. Raise ``Unavailable`` without a database."""
        if self._seconds() < self._look_at:
            return
        self._look_at = self._seconds() + LOOK_EVERY_S
        with database.read() as session:
            progress = load_progress(session, Pool(self._slots, slot_shares))
        self.note(progress, reports.count_workers(self._redis))

    def note(self, progress: QueueProgress, workers: int | None) -> None:
        """Take in what a look has found. Log a change, and report the state. ``workers`` is None if it is unknown."""
        self._update(progress, workers)
        waited_s = 0.0 if self._waits_since is None else progress.seconds - self._waits_since
        is_stalled = waited_s >= STALLED_AFTER_S
        if is_stalled and not self._is_stalled:
            found = {"match": progress.claimable, "playing": progress.playing, "workers": workers}
            log.error("queue_stalled", extra={**found, "waited_s": round(waited_s)})
        elif self._is_stalled and not is_stalled:
            log.info("queue_moves_again")
        self._is_stalled = is_stalled
        if workers is not None and (is_stalled or self._is_sure):  # otherwise another scheduler may know more
            reports.report_queue(self._redis, QueueReport(round(waited_s) if is_stalled else None))

    def _update(self, progress: QueueProgress, workers: int | None) -> None:
        last, self._last = self._last, progress
        is_first = last is None or last.boot != progress.boot or progress.seconds - last.seconds > MAX_GAP_S
        has_begun = last is not None and last.last_begun != progress.last_begun
        has_slot = not workers or progress.playing < workers * self._slots
        if progress.claimable is None or not has_slot:
            self._waits_since, self._is_sure = None, True
        elif is_first or has_begun or self._waits_since is None:
            self._waits_since = progress.seconds
            self._is_sure = not is_first
