"""The scheduler: looks at the record again and again, and does what follows from the time or from what was lost.

Events are carried on in ``workers.tournaments``.

It holds nothing: several may run, any may be killed, and a queue that was emptied is refilled within a sweep.
``python -m workers.scheduler``
"""

import gc
import logging
import signal
import sys
import threading

from redis import Redis

from referee.bots import checks, house_bots
from referee.db import change_notifier, idempotency
from referee.db.engine import Database
from referee.db.revisions import usable_at_start
from referee.errors import Unavailable
from referee.matches import claims, deal_groups
from referee.runtime import logging_setup
from referee.settings import Settings
from referee.webhooks import deliveries
from referee.workflows import deal_group_closing
from workers import queues
from workers.tournaments import Events

log = logging.getLogger(__name__)

SWEEP_S = 1.0


class Scheduler:
    """One sweep after the other, until stopped."""

    def __init__(self, database: Database, redis: Redis, master_key: bytes) -> None:
        self._database = database
        self._redis = redis
        self._master_key = master_key
        self._events = Events(database, master_key)
        self._announcer = change_notifier.Announcer(redis)
        self._has_house = False

    def sweep(self) -> None:
        """1. Wakes runners for what is due, whatever becomes of the rest. 2. Closes deal groups. 3. Forgets the
        answers to requests, and the messages to owners, that came long ago. 4. Carries events on."""
        with self._database.read() as session:
            left_open = deal_groups.left_open(session)
            answers_old = idempotency.any_old(session)
            todo = claims.sweep(session)
            messages_due = deliveries.any_due(session)
            deliveries_old = deliveries.any_old(session)
        for match_id in todo.alone:
            queues.wake_alone(self._redis, match_id)
        if todo.due or todo.expired or todo.checks_due or messages_due:
            queues.wake(self._redis)
        self._close(left_open)
        if answers_old:
            with self._database.write() as session:
                idempotency.forget_old(session)
        if deliveries_old:
            with self._database.write() as session:
                deliveries.forget_old(session)
        if self._events.carry_on():
            queues.wake(self._redis)
            self._announcer.say()

    def _close(self, group_ids: list[str]) -> None:
        for group_id in group_ids:
            try:
                with self._database.write() as session:
                    deal_group_closing.close_if_over(session, group_id, master_key=self._master_key)
            except deal_groups.WrongMasterKey as error:  # of no concern to the others
                log.error("group not closed", extra={"group": group_id, "reason": str(error)})

    def _prepare(self) -> None:
        if not self._has_house:
            with self._database.write() as session:
                house_bots.house_bots(session)
            self._has_house = True
            with self._database.write() as session:
                checks.catch_up(session)

    def run(self, stopped: threading.Event, *, every_s: float = SWEEP_S) -> None:
        """Sweeps every ``every_s`` seconds; a record or a queue that cannot answer is tried again. Before the first
        the house bots are made, so that who looks for rivals finds them, and bots attested by older rules are
        made due to be examined."""
        while not stopped.is_set():
            try:
                self._prepare()
                self.sweep()
            except Unavailable as error:
                log.warning("sweep put off", extra={"reason": str(error)})
            except Exception:
                log.exception("sweep failed")
            stopped.wait(every_s)


def main() -> int:
    """Sweeps until told to stop."""
    logging_setup.keep()
    settings = Settings.load()
    if settings.redis_url is None:
        log.error("REDIS_URL is not set; `referee up` sets it for the processes it starts")
        return 2
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    database = Database.from_settings(settings)
    if not usable_at_start(database):
        return 2
    gc.freeze()  # what is here stays: garbage is looked for in what comes later
    Scheduler(database, queues.connect(settings.redis_url), settings.master_key).run(stopped)
    database.dispose()
    return 0


if __name__ == "__main__":
    sys.exit(main())
