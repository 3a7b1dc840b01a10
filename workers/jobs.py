"""What a wake-up sets going in a work-horse. The jobs carry no match but the one that must be played alone."""

import asyncio

from referee.db.engine import Database
from referee.settings import Settings
from workers import runner


def run_due() -> None:
    """Plays and checks all that is due."""
    _run(None)


def run_alone(match_id: str) -> None:
    """Plays a match that cost others their lives, in a process that holds nothing else."""
    _run(match_id)


def _run(alone: str | None) -> None:
    settings = Settings.load()
    database = Database.from_settings(settings)
    try:
        asyncio.run(runner.run(settings, database, alone=alone))
    finally:
        database.dispose()
