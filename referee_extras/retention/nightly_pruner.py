"""Measure the use of the disk and prune each night, in a thread of the scheduler. Several schedulers may do this."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from referee.db.engine import Database, current_time
from referee.settings import Settings
from referee_extras.retention import disk_use
from referee_extras.retention.pruning import Pruner
from referee_extras.retention.rules import rules_of
from referee_extras.retention.tables import DiskUse, RetentionRun

log = logging.getLogger(__name__)

BEGINS: Final = timedelta(hours=4)  # after midnight in UTC, when the audit of most services is over
LOOK_S: Final = 300.0  # between two looks for work
REST_S: Final = 1.0  # between two portions, so that other writers have their turn


class NightlyPruner:
    """Measure and prune once a day, in portions."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings
        self._rules = rules_of(settings)
        self._pruner: Pruner | None = None

    def step(self) -> float:
        """Measure, or prune at most one portion. Return how long to wait before the next step, in seconds."""
        if self._pruner is None:
            if not self._is_due():
                return LOOK_S
            self._pruner = Pruner(self._database, self._rules)
        return self._prune(self._pruner)

    def _is_due(self) -> bool:
        with self._database.read() as session:
            moment = current_time(session)
            if moment - moment.replace(hour=0, minute=0, second=0, microsecond=0) < BEGINS:
                return False
            is_measured = session.get(DiskUse, moment.date()) is not None
            run = session.get(RetentionRun, moment.date())
            measured = None if is_measured else disk_use.measure(session, self._settings.data_dir)
        if measured is not None:
            with self._database.write() as session:
                disk_use.store(session, measured)
        return run is None or run.finished_at is None

    def _prune(self, pruner: Pruner) -> float:
        try:
            if pruner.step():
                return REST_S
        except Exception:
            self._pruner = None
            raise
        log.info("pruning_finished", extra={"deleted": pruner.deleted})
        self._pruner = None
        return LOOK_S


def start_pruning(database: Database, settings: Settings) -> Callable[[], float]:
    """Return the step of the thread of the scheduler that measures and prunes."""
    return NightlyPruner(database, settings).step
