"""Notice that due work waits although runners could claim it, log it, and report it for ``/readyz`` and ``/playz``.

Matches that wait for full or paused bots, for their share or for a free slot are not stalled: see ``queue_progress``;
other work is not while some of its kind is under way: see ``unclaimed_work``.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from redis import Redis

from referee.db.engine import Database
from referee.matches.queue.queue_progress import QueueProgress, load_progress
from referee.matches.queue.shares import Pool, slot_shares
from referee.workflows.unclaimed_work import list_unclaimed
from workers import reports
from workers.reports import QueueReport

LOOK_EVERY_S: Final = 5.0
STALLED_AFTER_S: Final = 30.0  # longer than a lease, after which the matches of a lost runner are taken over
MAX_GAP_S: Final = 20.0  # between two looks; after a longer one, for example without a database, waiting begins again

log = logging.getLogger(__name__)


class QueueWatch:
    """Watch the queue of one service, whose runners have ``slots`` slots each.

    ``workers`` is the number of workers that was known last. Until there is one, matches are not judged: they may wait
    for slots. Without ``redis``, its user tells it, and the state is only in ``report``.
    """

    def __init__(self, redis: Redis | None, slots: int, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._redis = redis
        self._slots = slots
        self.workers: int | None = None
        self._seconds = seconds
        self.report = QueueReport(None)
        self._look_at = float("-inf")
        self._last: QueueProgress | None = None
        self._waits_since: float | None = None
        self._others_since: dict[str, float] = {}  # by kind of other work
        self._is_sure = False  # whether a match began, or none waited, since this watch began or had a gap
        self._is_stalled = False

    def step(self, database: Database) -> None:
        """Look at the queue, unless the last look was a moment ago. Raise ``Unavailable`` without a database."""
        if self._seconds() < self._look_at:
            return
        self._look_at = self._seconds() + LOOK_EVERY_S
        with database.read() as session:
            progress = load_progress(session, Pool(self._slots, slot_shares))
            unclaimed = list_unclaimed(session)
        self.note(progress, None if self._redis is None else reports.count_workers(self._redis), unclaimed)

    def note(self, progress: QueueProgress, workers: int | None, unclaimed: Sequence[str] = ()) -> None:
        """Take in what a look has found. Log a change, report the state. ``workers`` is None if they were not counted.

        ``unclaimed`` lists kinds of other work of which something is due and nothing under way.
        """
        if workers is not None:
            self.workers = workers
        self._update(progress, unclaimed)
        matches = {} if self._waits_since is None else {"matches": self._waits_since}
        since = matches | self._others_since
        waited_s, what = max(((progress.seconds - moment, kind) for kind, moment in since.items()), default=(0.0, ""))
        is_stalled = waited_s >= STALLED_AFTER_S
        if is_stalled and not self._is_stalled:
            found = {"match": progress.claimable, "playing": progress.playing, "workers": self.workers, "what": what}
            log.error("queue_stalled", extra={**found, "waited_s": round(waited_s)})
        elif self._is_stalled and not is_stalled:
            log.info("queue_moves_again")
        self._is_stalled = is_stalled
        self.report = QueueReport(round(waited_s), what) if is_stalled else QueueReport(None)
        if self._redis is not None and workers is not None and (is_stalled or self._is_sure):
            reports.report_queue(self._redis, self.report)  # unless another scheduler may know more

    def _update(self, progress: QueueProgress, unclaimed: Sequence[str]) -> None:
        last, self._last = self._last, progress
        is_first = last is None or last.boot != progress.boot or progress.seconds - last.seconds > MAX_GAP_S
        has_begun = last is not None and last.last_begun != progress.last_begun
        has_slot = self.workers is not None and progress.has_slot(runners=max(1, self.workers), size=self._slots)
        if progress.claimable is None or not has_slot:
            self._waits_since, self._is_sure = None, True
        elif is_first or has_begun or self._waits_since is None:
            self._waits_since = progress.seconds
            self._is_sure = not is_first
        known = {} if is_first else self._others_since
        self._others_since = {kind: known.get(kind, progress.seconds) for kind in unclaimed}
