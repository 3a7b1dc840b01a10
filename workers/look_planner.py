"""Decide where a runner looks for due matches: at those of the bots that it freed, and now and then everywhere.

``match_queue`` reads what is found there. Here only what is known is kept: after a look everywhere that left room,
every match that may be claimed needs a bot that came free since, or is new.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from referee.matches.queue.match_queue import Found, Look

LOOK_EVERYWHERE_S: Final = 1.0  # pause between looks everywhere while nothing new is due
MAX_FREED: Final = 64  # freed bots above which a look everywhere costs less


class LookPlanner:
    """Keep what a runner knows about due matches. ``seconds`` is its clock."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._freed: set[str] = set()
        self._newest: datetime | None = None  # of the due matches at the last look everywhere
        self._everywhere_at: float | None = None  # time from which to look everywhere; None: immediately
        self._last_bot = ""

    def add_freed(self, bots: Iterable[str], *, is_slot_wanted: bool = False) -> None:
        """Note that these bots came free and, with ``is_slot_wanted``, a slot that matches of any bots may wait for."""
        self._freed.update(bots)
        if is_slot_wanted:
            self._everywhere_at = None

    def next_look(self, newest: datetime | None) -> Look | None:
        """Return where to look now, or None if nothing can be found. ``newest`` is the time of the newest due match."""
        is_new = newest is not None and newest != self._newest
        is_time = self._everywhere_at is None or self._seconds() >= self._everywhere_at
        everywhere = is_new or is_time or len(self._freed) > MAX_FREED
        if not everywhere and not self._freed:
            return None
        if everywhere:
            self._newest = newest
        freed, self._freed = self._freed, set()
        return Look(tuple(sorted(freed)), everywhere, self._last_bot)

    def note_found(self, look: Look, found: Found) -> None:
        """Note what a look found."""
        self._last_bot = found.last_bot
        if not found.is_all:
            self._freed.update(look.freed)
        if look.everywhere:
            self._everywhere_at = self._seconds() + LOOK_EVERYWHERE_S if found.is_all else None
