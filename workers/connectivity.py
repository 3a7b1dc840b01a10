"""Our own way out: when nobody can be reached any more it is not the bots that fail, and no match pays for it.

What is known is what the calls of this process brought. A connection that was open when the line went dead shows
itself as a late answer and stays the bot's; whoever is connected to anew is told apart.
"""

import time
from collections.abc import Callable
from typing import Final, Literal

from referee.botclient.client import Reply

Verdict = Literal["fault", "unclear", "down"]

WINDOW_S: Final = 10.0
OWNERS: Final = 3  # so many whose bots cannot be reached, and nobody else's can
LONGEST_S: Final = 600.0  # in all; then faults count again: matches must not wait for ever, nor again and again
PROBE_S: Final = 2.0  # between two attempts while the line is down


def is_unconnected(reply: Reply) -> bool:
    """Whether the call ended before there was a connection, or with one of old that broke and no new one to be had.

    Who takes a connection and then hangs up was reached.
    """
    if reply.dialled:
        return False
    late = reply.fault == "deadline" and reply.status == 0 and reply.timing.wait_ms == 0
    return late or reply.fault in ("unreachable", "dns_failed")


class Uplink:
    """The calls of one process, as far as they tell whether it can still call at all."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic, *, probe_s: float = PROBE_S) -> None:
        self.probe_s = probe_s
        self._seconds = seconds
        self._called: dict[str, float] = {}  # owners, and when one of their bots was called last
        self._failed: dict[str, float] = {}  # owners, and when that failed last, since anybody answered
        self._answered_at = float("-inf")
        self._down_since: float | None = None
        self._last_outage = (float("inf"), float("inf"))
        self._waited_s = 0.0  # in outages that are over

    @property
    def is_down(self) -> bool:
        """Whether matches wait for the line."""
        return self._down_since is not None

    def calling(self, owner_id: str) -> None:
        """A bot of this owner is called now."""
        self._called[owner_id] = self._seconds()

    def record_success(self) -> None:
        """Somebody was reached: the line is well."""
        self._answered_at = self._seconds()
        if self._down_since is not None:
            self._last_outage = self._down_since, self._answered_at
            self._waited_s += self._answered_at - self._down_since
        self._failed.clear()
        self._down_since = None

    def record_failure(self, owner_id: str) -> float:
        """A bot of this owner could not be connected to; gives the time of it, for ``verdict``."""
        self._failed[owner_id] = self._seconds()
        return self._failed[owner_id]

    def verdict(self, failed_at: float) -> Verdict:
        """What a call means that could not connect, and said so then: the bot's fault; our line is down; or it is not
        known yet, because bots of other owners are being called.

        It is the bot's fault when somebody was reached since (unless it failed while the line was down), when too few
        others were called within 10 s to tell, when those 10 s brought no more failures, and when the line has been
        down for 10 minutes in all: three who refuse calls together must not hold up their rivals for hours.
        """
        moment = self._seconds()
        if self._answered_at > failed_at:
            began, ended = self._last_outage
            return "down" if began <= failed_at <= ended else "fault"
        failed = _drop_older(self._failed, moment - WINDOW_S)
        if len(failed) >= OWNERS:
            self._down_since = min(failed.values()) if self._down_since is None else self._down_since
            return "down" if self._waited_s + moment - self._down_since < LONGEST_S else "fault"
        self._called = _drop_older(self._called, moment - WINDOW_S)
        return "fault" if len(self._called) < OWNERS or moment - failed_at >= WINDOW_S else "unclear"


def _drop_older(times: dict[str, float], earliest: float) -> dict[str, float]:
    return {owner_id: moment for owner_id, moment in times.items() if moment >= earliest}
