"""Limit the matches of a runner whose host lacks file descriptors, threads or memory.

Such a runner releases the matches that it cannot play. Without a limit it would claim them again immediately, and
release them again.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

log = logging.getLogger(__name__)

FIRST_REST_S: Final = 1.0  # without claims after a shortage; doubled while shortages follow each other
MAX_REST_S: Final = 60.0
SUCCESSES_PER_RISE: Final = 10


class Capacity:
    """Hold how many tasks a runner may have: as many as ran on after a shortage, and later again more."""

    def __init__(
        self, slots: int, seconds: Callable[[], float] = time.monotonic, *, report: Callable[[str], None] | None = None
    ) -> None:
        self.limit = slots
        self._slots = slots
        self._report = report  # gets the reason for each rest
        self._seconds = seconds
        self._rest_s = FIRST_REST_S
        self._rests_until = float("-inf")
        self._successes = 0  # since the last shortage or rise

    @property
    def is_resting(self) -> bool:
        """Return whether nothing may be claimed for the moment."""
        return self._seconds() < self._rests_until

    def note_shortage(self, running: int, reason: str) -> None:
        """Lower the limit because one of the running tasks had to end. Rest, unless the runner rests already."""
        self._successes = 0
        if self.is_resting:
            self.limit = max(1, self.limit - 1)
            return
        self.limit = max(1, min(self.limit, running) - 1)
        self._rests_until = self._seconds() + self._rest_s
        log.warning("runner_lacks_resources", extra={"tasks": running, "rest_s": self._rest_s, "reason": reason})
        if self._report is not None:
            self._report(reason)
        self._rest_s = min(2 * self._rest_s, MAX_REST_S)

    def note_success(self) -> None:
        """Count a match that was played to its end. Some of them raise the limit by one, up to the runner's slots."""
        self._rest_s = FIRST_REST_S
        self._successes += 1
        if self._successes >= SUCCESSES_PER_RISE:
            self._successes = 0
            self.limit = min(self.limit + 1, self._slots)
