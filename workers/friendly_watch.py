"""End friendlies that have lasted too long while other matches wait for slots, one at a time.

``referee.matches.queue.friendly_time`` has the rule.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from redis import Redis

from referee.db.engine import Database, current_time
from referee.matches.queue.friendly_time import is_over
from referee.workflows.voids import friendly_ending
from workers import reports
from workers.queue_watch import MAX_GAP_S

LOOK_EVERY_S: Final = 5.0

log = logging.getLogger(__name__)


class FriendlyWatch:
    """Watch the friendlies of one service, whose runners have ``slots`` slots each.

    Only time counts in which somebody could play: it begins again after a gap between two looks, as when the service or
    its host was stopped or asleep, and at a look that finds no worker.
    """

    def __init__(
        self, redis: Redis, slots: int, master_key: bytes, *, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._redis = redis
        self._slots = slots
        self._master_key = master_key
        self._seconds = seconds
        self._look_at = float("-inf")
        self._was_wanted = False
        self._looked_at: datetime | None = None
        self._watched_since: datetime | None = None

    def step(self, database: Database) -> bool:
        """End a friendly if matches waited for slots at this look and at the last one. Return whether one was ended.

        One look does not suffice: a runner may be about to claim the match. Without Redis, whose workers are not
        counted then, nothing is ended.
        """
        if self._seconds() < self._look_at:
            return False
        self._look_at = self._seconds() + LOOK_EVERY_S
        with database.read() as session:
            moment = current_time(session)
            found = friendly_ending.list_long_friendlies(session, self._note_look(moment))
        workers = reports.count_workers(self._redis) if found else None
        if workers == 0:
            self._watched_since = moment
        is_wanted = False
        if workers:
            with database.read() as session:
                is_wanted = friendly_ending.is_slot_wanted(session, workers=workers, slots=self._slots)
        was_wanted, self._was_wanted = self._was_wanted, is_wanted
        wanted = was_wanted and is_wanted
        ended = next((long for long in found if is_over(long.played_s, long.longest_s, is_slot_wanted=wanted)), None)
        if ended is None:
            return False
        with database.write() as session:
            is_ended = friendly_ending.end_friendly(session, ended.match_id, master_key=self._master_key)
        if is_ended:
            log.info("friendly_ended", extra={"match": ended.match_id, "played_s": round(ended.played_s)})
        return is_ended

    def _note_look(self, moment: datetime) -> datetime:
        """Return since when looks have followed each other without a gap."""
        last, self._looked_at = self._looked_at, moment
        if self._watched_since is None or last is None or (moment - last).total_seconds() > MAX_GAP_S:
            self._watched_since = moment
        return self._watched_since
