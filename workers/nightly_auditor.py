"""Run the nightly audit in a thread of the scheduler. Several schedulers may do this at a time."""

import logging
from typing import Final

from referee.audit import nightly
from referee.db.engine import Database
from referee.ladders.tables import AuditRun

log = logging.getLogger(__name__)

LOOK_S: Final = 60.0  # between two looks for an audit that is due
REST_S: Final = 1.0  # between two steps, so that an audit leaves most of a processor to others


class NightlyAuditor:
    """Run the audit of each day in steps."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._run: AuditRun | None = None  # the run that this scheduler continues

    def step(self) -> float:
        """Run at most one step. Return how long to wait before the next one, in seconds."""
        run = self._run or self._find_work()
        if run is None:
            return LOOK_S
        self._run = nightly.continue_run(self._database, run)
        if self._run is None:
            return LOOK_S
        new = self._run.differences - run.differences
        if new:
            log.error("audit_differs", extra={"differences": new, "first": self._run.findings[:1]})
        if self._run.finished_at is None:
            return REST_S
        counts = {name: getattr(self._run, name) for name in ("logs", "not_replayable", "differences")}
        log.info("audit_finished", extra=counts)
        self._run = None
        return LOOK_S

    def _find_work(self) -> AuditRun | None:
        with self._database.read() as session:
            run = nightly.find_run(session)
            if run is not None:
                is_free = run.finished_at is None and nightly.is_abandoned(session, run)
                return run if is_free else None
        return nightly.start_run(self._database)
