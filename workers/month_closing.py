"""Close the months of ladders that are over, in a thread of the scheduler. Several schedulers may do this at a time."""

import logging
from typing import Final

from referee.db.engine import Database
from referee.errors import Unavailable
from referee.ladders import months
from referee.timestamps import format_month

log = logging.getLogger(__name__)

LOOK_S: Final = 60.0  # between two looks for months that are over


class MonthCloser:
    """Close one month of one ladder after the other, the earliest first."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._failed: set[str] = set()  # ladders that are not tried again before the next look

    def step(self) -> float:
        """Close at most one month. Return how long to wait before the next step, in seconds."""
        with self._database.read() as session:
            waiting = [found for found in months.list_open_months(session) if found[0] not in self._failed]
        if not waiting:
            self._failed.clear()
            return LOOK_S
        ladder_id, month = min(waiting, key=lambda found: (found[1], found[0]))
        of_month = {"ladder": ladder_id, "month": format_month(month)}
        try:
            is_new = months.close_month(self._database, ladder_id, month)
        except Unavailable:
            raise
        except Exception:  # affects no other ladder
            log.exception("month_not_closed", extra=of_month)
            self._failed.add(ladder_id)
            return 0.0
        if is_new:
            log.info("month_closed", extra=of_month)
        return 0.0
