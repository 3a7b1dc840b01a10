"""Store the parts of ledger files that are missing, in a thread of the scheduler. Several schedulers may do this."""

import logging
import time
from collections.abc import Callable
from typing import Final

from referee.db.engine import Database
from referee.errors import Unavailable
from referee.ladders import ledger_csv, rating_errors

log = logging.getLogger(__name__)

LOOK_S: Final = 10.0  # between two looks for new ledger entries
REST_FACTOR: Final = 9  # rest after each part, in multiples of its duration: a tenth of a processor at most


class LedgerPartStorer:
    """Store parts one at a time, ladder by ladder. At the start, look at all ladders."""

    def __init__(self, database: Database, seconds: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._seconds = seconds
        self._seen_up_to: int | None = None  # the last ledger entry of which the ladder was looked at
        self._ladders: list[str] = []  # those that may lack parts

    def step(self) -> float:
        """Store at most one part. Return how long to wait before the next step, in seconds."""
        if not self._ladders:
            if self._seen_up_to is None:  # only at the start, because schedulers of two versions may run for a while
                with self._database.write(durable=False) as session:
                    ledger_csv.delete_other_versions(session)
            with self._database.read() as session:
                last = rating_errors.last_entry(session)
                self._ladders = ledger_csv.list_changed_ladders(session, self._seen_up_to or 0)
            self._seen_up_to = last
        if not self._ladders:
            return LOOK_S
        began = self._seconds()
        ladder_id = self._ladders.pop()  # also before an error, so that the next step takes another ladder
        try:
            if ledger_csv.store_next_part(self._database, ladder_id):
                self._ladders.append(ladder_id)
        except Unavailable as error:
            log.warning("ledger_part_postponed", extra={"ladder": ladder_id, "reason": str(error)})
            self._ladders.insert(0, ladder_id)
            return max(LOOK_S, self._rest_since(began))
        return self._rest_since(began)

    def _rest_since(self, began: float) -> float:
        return REST_FACTOR * (self._seconds() - began)
