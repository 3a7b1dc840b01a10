"""Define the RQ jobs that run in a work-horse."""

import asyncio

from referee.db.engine import Database
from referee.settings import Settings
from workers import runner


def run_due() -> None:
    """Run all work that is due: matches, handshakes, checks and deliveries."""
    _run(None)


def run_alone(match_id: str) -> None:
    """Play only this match, which other runners lost, so that a crash affects no other match."""
    _run(match_id)


def _run(match_id: str | None) -> None:
    settings = Settings.load()
    database = Database.from_settings(settings)
    try:
        asyncio.run(runner.run(settings, database, match_id=match_id))
    finally:
        database.dispose()
