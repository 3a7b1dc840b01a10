"""Say from time to time what a command waits for, so that nobody takes a slow machine for a command that hangs."""

import time
from collections.abc import Callable
from typing import Final

SAY_EVERY_S: Final = 30.0


class WaitReporter:
    """Call ``say`` every ``SAY_EVERY_S`` with what is missing. Waiting begins when the object is created."""

    def __init__(self, say: Callable[[str], None], seconds: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._seconds = seconds
        self._began = self._said = seconds()

    def note(self, missing: str) -> None:
        """Take in what is missing now, and say it unless something was said a short time ago."""
        now = self._seconds()
        if now - self._said >= SAY_EVERY_S:
            self._said = now
            self._say(f"still waiting after {now - self._began:.0f} s: {missing}")
