"""Keep the strengths of bots current, in a thread of the scheduler that takes a limited share of a processor.

Results that arrive while a ladder rests are included together. Nothing is computed for requests.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from referee.db.engine import Database
from referee.errors import Unavailable
from referee.ladders import rating_errors
from workers.repeated_steps import ERROR_PAUSE_S

log = logging.getLogger(__name__)

LOOK_S: Final = 1.0  # between two looks for new ledger entries
LADDER_REST_S: Final = 5.0  # from one refresh of a ladder to the next
REST_FACTOR: Final = 9  # rest after each refresh, in multiples of its duration: a tenth of a processor at most


class RatingErrorRefresher:
    """Refresh the strengths of one ladder after the other, the one that has waited longest first."""

    def __init__(self, database: Database, seconds: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._seconds = seconds
        self._current_up_to = -1  # the last ledger entry that all ladders include
        self._rests_until: dict[str, float] = {}  # by ladder id, in the time of ``seconds``

    def step(self) -> float:
        """Refresh at most one ladder. Return how long to wait before the next step, in seconds."""
        with self._database.read() as session:
            last = rating_errors.last_entry(session)
            outdated = [] if last == self._current_up_to else rating_errors.list_outdated(session)
        if not outdated:
            self._current_up_to = last
            return LOOK_S
        began = self._seconds()
        self._rests_until = {id: self._rests_until.get(id, 0.0) for id in outdated}
        ladder_id = min(outdated, key=self._rests_until.__getitem__)
        if self._rests_until[ladder_id] > began:
            return LOOK_S
        try:
            done = rating_errors.refresh_errors(self._database, ladder_id)
        except Unavailable:
            raise
        except Exception:
            log.exception("rating_errors_failed", extra={"ladder": ladder_id})
            self._rests_until[ladder_id] = self._seconds() + ERROR_PAUSE_S
            return LOOK_S
        spent = self._seconds() - began
        self._rests_until[ladder_id] = began + spent + LADDER_REST_S
        found = {"joint": done.joint, "single": done.single, "ms": round(1_000 * spent)}
        log.info("rating_errors_refreshed", extra={"ladder": ladder_id, **found})
        return REST_FACTOR * spent
