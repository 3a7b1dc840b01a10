"""Claim due matches for the free slots of a runner."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from referee.matches.queue import claims, match_queue
from referee.matches.queue.claims import ClaimedMatch
from referee.matches.queue.shares import create_slots
from workers.capacity import Capacity
from workers.database_thread import DatabaseThread
from workers.look_planner import LookPlanner
from workers.runner_counters import RunnerCounters

BATCH_SIZE: Final = 8  # matches per claim, so that runners that start together share what is due


class MatchClaimer:
    """Look for matches and claim them. ``in_use`` has the slots that the matches of the runner use."""

    def __init__(
        self,
        thread: DatabaseThread,
        capacity: Capacity,
        counters: RunnerCounters,
        *,
        slots: int,
        seconds: Callable[[], float],
    ) -> None:
        self._thread, self._capacity, self._counters = thread, capacity, counters
        self.in_use = create_slots(slots)
        self.planner = LookPlanner(seconds)

    async def claim_some(self, newest: datetime | None) -> list[ClaimedMatch]:
        """Look for matches without holding up any writer, then claim what was found, as far as there is room.

        ``newest`` is the time of the newest due match. Return [] if there is no room or nothing to claim.
        """
        room = min(self._capacity.limit - self.in_use.total, BATCH_SIZE)
        look = self.planner.next_look(newest) if room > 0 else None
        if look is None:
            return []
        self._counters.looks += 1
        slots = self.in_use.copy()
        found = await self._thread.read(match_queue.find_matches, room, look=look, slots=slots)
        self.planner.note_found(look, found)
        if not found.units:
            return []
        self._counters.claims += 1
        return await self._thread.write(claims.claim_found, found.units, slots=slots)

    def free(self, claimed: ClaimedMatch) -> None:
        """Return the slot of a match that this runner does not play any more."""
        was_wanted = self.in_use.count_free(claimed.lane) <= 0
        self.in_use.take(claimed.lane, -1)
        self.planner.add_freed(claimed.bots, is_slot_wanted=was_wanted)
