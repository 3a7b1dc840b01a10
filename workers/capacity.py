"""Limit the matches of a runner whose host lacks file descriptors, threads or memory.

Such a runner releases the matches that it cannot play. Without a limit it would claim them again at once, and release
them again.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

log = logging.getLogger(__name__)

FIRST_REST_S: Final = 1.0  # without claims after a shortage; doubled while shortages follow each other
MAX_REST_S: Final = 60.0


class Capacity:
    """Hold how many tasks a runner may have: half as many after a shortage, one more for each match that ends well."""

    def __init__(self, slots: int, seconds: Callable[[], float] = time.monotonic) -> None:
        self.limit = slots
        self._slots = slots
        self._seconds = seconds
        self._rest_s = FIRST_REST_S
        self._rests_until = float("-inf")

    @property
    def is_resting(self) -> bool:
        """Return whether nothing may be claimed for the moment."""
        return self._seconds() < self._rests_until

    def note_shortage(self, running: int, reason: str) -> None:
        """Halve the limit, from the number of tasks that were running, and rest. Several shortages at once are one."""
        if self.is_resting:
            return
        self.limit = max(1, min(self.limit, running) // 2)
        self._rests_until = self._seconds() + self._rest_s
        log.warning("runner_lacks_resources", extra={"limit": self.limit, "rest_s": self._rest_s, "reason": reason})
        self._rest_s = min(2 * self._rest_s, MAX_REST_S)

    def note_success(self) -> None:
        """Raise the limit by one, up to the slots of the runner."""
        self.limit = min(self.limit + 1, self._slots)
        self._rest_s = FIRST_REST_S
