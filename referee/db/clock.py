"""The clocks of the record: one that dates rows and orders nothing, one that judges leases and never jumps.

A PostgreSQL record judges leases by the server's clock instead; see ``db.lease_now``.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """What the record asks of time."""

    def utc_now(self) -> datetime:
        """The date and time, in UTC."""
        ...

    def boot(self) -> tuple[str, float]:
        """The id of this boot of the machine and the seconds since, stretches of sleep included."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's own clocks."""

    def utc_now(self) -> datetime:
        return datetime.now(UTC)

    def boot(self) -> tuple[str, float]:
        if hasattr(time, "CLOCK_BOOTTIME"):
            return _boot_id(), time.clock_gettime(time.CLOCK_BOOTTIME)
        return _boot_id(), time.monotonic()


@cache
def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        # Elsewhere than on Linux the monotonic clock alone must do: after a restart of the machine it begins
        # anew, so leases of the boot before seem to last longer than they should, never shorter.
        return "unknown"
