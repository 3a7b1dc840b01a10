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
_READ: Final = text("SELECT extract(epoch FROM clock_timestamp())")


class ServerClock:
    """Read the clock of one server. Each transaction asks the server once and then counts the time since."""

    def __init__(self) -> None:
        self._warned_at = float("-inf")

    def seconds(self, session: Session, host_clock: Clock) -> float:
        """Return the server's time in seconds since 1970. Compare a clock of this host with it."""
        offset_s: float | None = session.info.get("server_clock")
        if offset_s is None:
            asked_at = host_clock.utc_now().timestamp() if isinstance(host_clock, SystemClock) else None
            server_s = float(session.scalar(_READ) or 0)
            offset_s = session.info["server_clock"] = server_s - time.monotonic()
            if asked_at is not None:
                self._compare(asked_at, server_s, host_clock.utc_now().timestamp())
        return offset_s + time.monotonic()

    def _compare(self, asked_at: float, server_s: float, answered_at: float) -> None:
        """Log by how many seconds the clock of this host is ahead, unless the time of the query explains it."""
        ahead_s = asked_at - server_s if asked_at > server_s else min(answered_at - server_s, 0.0)
        if abs(ahead_s) > TOLERATED_SKEW_S and time.monotonic() - self._warned_at > WARN_EVERY_S:
            self._warned_at = time.monotonic()
            log.warning("host_clock_differs", extra={"ahead_s": round(ahead_s, 1)})
