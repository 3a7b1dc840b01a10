"""Provide the clocks of the database: wall-clock time for timestamps, and time since boot for leases.

Time since boot never jumps. On PostgreSQL, leases and timestamps use the server's clock instead; see
``engine.lease_now`` and ``engine.current_time``.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """Provide wall-clock time and time since boot. Tests pass a fake clock."""

    def utc_now(self) -> datetime:
        """Return the date and time in UTC."""
        ...

    def boot(self) -> tuple[str, float]:
        """Return the id of the current boot and the seconds since then, including time in suspension."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """Read the clocks of the operating system."""

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
        # Only Linux has boot ids. Elsewhere the monotonic clock restarts with the machine, so leases from before the
        # restart seem to last longer than they should, never shorter.
        return "unknown"
