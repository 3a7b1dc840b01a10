"""Run ``MODULE:FUNCTION`` as one process of the campaign: ``python -m tools.chaos.entry MODULE:FUNCTION [ARGUMENT…]``.

Two variables of the environment, which only this module reads, change the process: ``CHAOS_PLANTED`` names a fault to
plant, and ``CHAOS_CLOCK`` a file with the seconds by which the wall clock is ahead. ``run_runners`` is a runner without
Redis and worker.
"""

import asyncio
import os
import pkgutil
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from referee.db.clock import SystemClock
from tools.chaos.planted import FAULTS

POLL_S = 0.05


def main() -> Any:
    if fault := os.environ.get("CHAOS_PLANTED"):
        FAULTS[fault]()
    if path := os.environ.get("CHAOS_CLOCK"):
        follow_clock_file(Path(path))
    del sys.argv[0]
    return pkgutil.resolve_name(sys.argv[0])()


def follow_clock_file(path: Path) -> None:
    """Let the wall clock of the database module be ahead by the seconds in the file, or right if there is none."""
    read = SystemClock.utc_now

    def utc_now(self: SystemClock) -> datetime:
        ahead_s = float(path.read_text() or 0) if path.exists() else 0.0
        return read(self) + timedelta(seconds=ahead_s)

    SystemClock.utc_now = utc_now  # type: ignore[method-assign]


def run_runners() -> None:
    """Run one runner after another, each until nothing is due, as the work-horses of a worker do."""
    from referee.db.engine import Database
    from referee.runtime import logging_setup
    from referee.settings import Settings
    from workers import claim_file
    from workers.runner import Runner

    logging_setup.configure()
    settings = Settings.load()
    while True:
        database = Database.from_settings(settings)
        asyncio.run(Runner(settings, database, record_claims=claim_file.record_claims).run_in_worker())
        database.dispose()
        time.sleep(POLL_S)


if __name__ == "__main__":
    sys.exit(main())
