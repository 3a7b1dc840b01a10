"""Read the clock of a PostgreSQL server, which is the same for all hosts, and warn when the host's clock differs."""

import logging
import time
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from referee.db.clock import Clock, SystemClock

log = logging.getLogger(__name__)

TOLERATED_SKEW_S: Final = 5.0
WARN_EVERY_S: Final = 60.0
ASK_EVERY_S: Final = 1.0  # by then, the clocks of host and server have drifted apart by much less than a millisecond
_READ: Final = text("SELECT extract(epoch FROM clock_timestamp())")


class ServerClock:
    """Read the clock of one server. Ask the server once a second, and count the time since then."""

    def __init__(self) -> None:
        self.host_ahead_s: float | None = None  # by how much the clock of this host is ahead; None if not compared yet
        self._warned_at = float("-inf")
        self._offset_s = 0.0  # the server's time minus the time since this host booted
        self._asked_at_s = float("-inf")  # since this host booted

    def seconds(self, session: Session, host_clock: Clock) -> float:
        """Return the server's time in seconds since 1970. Compare a clock of this host with it."""
        boot_s = SystemClock().boot()[1]
        if boot_s - self._asked_at_s < ASK_EVERY_S:
            return self._offset_s + boot_s
        asked_at = host_clock.utc_now().timestamp() if isinstance(host_clock, SystemClock) else None
        server_s = float(session.scalar(_READ) or 0)
        self._asked_at_s = SystemClock().boot()[1]
        self._offset_s = server_s - self._asked_at_s
        if asked_at is not None:
            self._compare(asked_at, server_s, host_clock.utc_now().timestamp())
        return server_s

    def _compare(self, asked_at: float, server_s: float, answered_at: float) -> None:
        """Note by how many seconds the clock of this host is ahead, unless the time of the query explains
        it. Log a difference that is not tolerated."""
        ahead_s = asked_at - server_s if asked_at > server_s else min(answered_at - server_s, 0.0)
        self.host_ahead_s = ahead_s
        if abs(ahead_s) > TOLERATED_SKEW_S and time.monotonic() - self._warned_at > WARN_EVERY_S:
            self._warned_at = time.monotonic()
            log.warning("host_clock_differs", extra={"ahead_s": round(ahead_s, 1)})
