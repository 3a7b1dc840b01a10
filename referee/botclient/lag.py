"""Measure the lag of our own event loop, because a bot must not be charged for it."""

import asyncio

TICK_S = 0.05
NOTICEABLE_S = 0.02  # less is ordinary timer jitter


class LagMeter:
    """Measure lag with a timer: the delay of its ticks is the time for which the loop was blocked or suspended."""

    def __init__(self) -> None:
        self._past_s = 0.0
        self._users = 0
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, loop: asyncio.AbstractEventLoop) -> float:
        """Start a measurement and return the lag so far, in seconds. The caller must call ``end`` afterwards."""
        if self._users == 0:
            self._loop = loop
            self._arm()
        self._users += 1
        return self.reading_s()

    def end(self) -> None:
        self._users -= 1
        if self._users == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def reading_s(self) -> float:
        """Return all lag so far, in seconds. Include an overdue tick, because a loop serves sockets before timers."""
        assert self._loop is not None
        late_s = self._loop.time() - self._due
        return self._past_s + late_s if late_s > NOTICEABLE_S else self._past_s

    def _arm(self) -> None:
        assert self._loop is not None
        self._due = self._loop.time() + TICK_S
        self._timer = self._loop.call_at(self._due, self._tick)

    def _tick(self) -> None:
        self._past_s = self.reading_s()
        self._arm()
