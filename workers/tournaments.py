"""Events carried on by the scheduler: those whose time has come are started, those that run go on, step by step.

What is kept here is only when to look at an event again; whoever begins anew looks at once.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from referee.db.engine import Database, current_time
from referee.errors import Conflict, Unavailable
from referee.tournaments import progression, starting

log = logging.getLogger(__name__)

TURN_S: Final = 0.5  # that an event may take before the others have their turn
TROUBLED_S: Final = 10.0  # before an event that went wrong is tried again
REST: Final = 10  # a look in vain is followed by a rest of so many times as long


class Events:
    """All events that run or are about to."""

    def __init__(self, database: Database, master_key: bytes, seconds: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._master_key = master_key
        self._seconds = seconds
        self._resting: dict[str, float] = {}  # until when

    def carry_on(self) -> bool:
        """Starts what is due and carries on what runs; whether there may be something for runners now.

        What goes wrong in one event is logged and of no concern to the others.
        """
        with self._database.read() as session:
            due = starting.due_by_themselves(session, current_time(session))
            running = progression.running(session)
        for tournament_id in self._awake(due):
            if self._try_step(tournament_id, self._start):
                running.append(tournament_id)
        self._resting = {one: until for one, until in self._resting.items() if one in (*due, *running)}
        took_steps = [self._try_step(tournament_id, self._take_turn) for tournament_id in self._awake(running)]
        return any(took_steps)

    def _awake(self, tournament_ids: list[str]) -> list[str]:
        moment = self._seconds()
        return [one for one in tournament_ids if self._resting.get(one, moment) <= moment]

    def _start(self, tournament_id: str) -> bool:
        try:
            with self._database.write() as session:
                return starting.start_by_itself(session, tournament_id).status == "running"
        except Conflict:
            return False  # its organiser, or another scheduler, was first

    def _take_turn(self, tournament_id: str) -> bool:
        """Takes steps until the event has to wait or its turn is over; whether any was taken."""
        begun = self._seconds()
        any_step = False
        while self._seconds() < begun + TURN_S:
            looked = self._seconds()
            step = progression.carry_on(self._database, tournament_id, master_key=self._master_key)
            if step is None:
                ended = self._seconds()
                self._resting[tournament_id] = ended + REST * (ended - looked)
                break
            any_step = True
            log.info("event carried on", extra={"tournament": tournament_id, "step": step})
        return any_step

    def _try_step(self, tournament_id: str, what: Callable[[str], bool]) -> bool:
        try:
            return what(tournament_id)
        except Unavailable:
            raise  # the record's trouble is everybody's
        except Exception:
            log.exception("event not carried on", extra={"tournament": tournament_id})
            self._resting[tournament_id] = self._seconds() + TROUBLED_S
            return False
