"""Start tournaments that are due and advance running ones, step by step. The scheduler calls this.

The only state is when to look at each tournament next; after a restart, all are looked at immediately.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from referee.db.engine import Database, current_time
from referee.errors import Conflict, Unavailable
from referee.tournaments import progression, starting
from referee.tournaments.states import TournamentState

log = logging.getLogger(__name__)

MAX_TURN_S: Final = 0.5  # how long a tournament may advance before the others have their turn
ERROR_PAUSE_S: Final = 10.0  # pause before a tournament that raised an error is tried again
REST_FACTOR: Final = 10  # pause after a look that finds nothing to do, in multiples of its duration


class TournamentAdvancer:
    """Advance all tournaments that are running or due to start."""

    def __init__(self, database: Database, master_key: bytes, seconds: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._master_key = master_key
        self._seconds = seconds
        self._paused_until: dict[str, float] = {}  # by tournament id, in the time of ``seconds``

    def advance_all(self) -> bool:
        """Start due tournaments and advance running ones. Return whether there may be new work for runners.

        An error in one tournament is logged and does not affect the others.
        """
        with self._database.read() as session:
            due = starting.list_due_to_start(session, current_time(session))
            running = progression.list_running(session)
        for tournament_id in self._without_paused(due):
            if self._try_step(tournament_id, self._start):
                running.append(tournament_id)
        self._paused_until = {
            tournament_id: until
            for tournament_id, until in self._paused_until.items()
            if tournament_id in (*due, *running)
        }
        took_steps = [self._try_step(tournament_id, self._advance) for tournament_id in self._without_paused(running)]
        return any(took_steps)

    def _without_paused(self, tournament_ids: list[str]) -> list[str]:
        moment = self._seconds()
        return [id for id in tournament_ids if self._paused_until.get(id, moment) <= moment]

    def _start(self, tournament_id: str) -> bool:
        try:
            with self._database.write() as session:
                return starting.start_if_due(session, tournament_id).status == TournamentState.RUNNING
        except Conflict:
            return False  # its organiser, or another scheduler, was first

    def _advance(self, tournament_id: str) -> bool:
        """Take steps until the tournament must wait or its turn is over. Return whether any step was taken."""
        started = self._seconds()
        any_step = False
        while self._seconds() < started + MAX_TURN_S:
            looked = self._seconds()
            step = progression.take_next_step(self._database, tournament_id, master_key=self._master_key)
            if step is None:
                ended = self._seconds()
                self._paused_until[tournament_id] = ended + REST_FACTOR * (ended - looked)
                break
            any_step = True
            log.info("tournament_advanced", extra={"tournament": tournament_id, "step": step})
        return any_step

    def _try_step(self, tournament_id: str, step: Callable[[str], bool]) -> bool:
        try:
            return step(tournament_id)
        except Unavailable:
            raise  # the database is down for all tournaments
        except Exception:
            log.exception("tournament_failed", extra={"tournament": tournament_id})
            self._paused_until[tournament_id] = self._seconds() + ERROR_PAUSE_S
            return False
