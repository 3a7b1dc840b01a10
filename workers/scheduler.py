"""Poll the database: wake runners for due work, advance tournaments, and clean up.

The scheduler keeps no state: several may run, any may be killed, and the next sweep refills an empty queue. Start it
with ``python -m workers.scheduler``.
"""

import gc
import logging
import signal
import sys
import threading
from collections.abc import Sequence

from redis import Redis

from referee import plugs
from referee.bots import checks, house_bots
from referee.db import change_notifier, extra_work, former_names, idempotency, revisions, statistics
from referee.db.engine import Database
from referee.db.revisions import is_usable_at_start
from referee.errors import RefereeError, Unavailable
from referee.friendlies import requests
from referee.ladders import official_matches
from referee.ladders.ladder_sync import sync_ladders
from referee.ladders.official import OfficialLadder, load_official_ladders
from referee.matches.deals import deal_groups
from referee.matches.queue import claims, queued_seats
from referee.runtime import logging_setup, worker_pause
from referee.runtime.starting import load_settings_at_start
from referee.settings import BadSettings
from referee.workflows.ending import deal_group_closing
from referee.workflows.erasing import erasure
from workers import queues
from workers.friendly_watch import FriendlyWatch
from workers.metrics_server import MetricsServer
from workers.month_closing import MonthCloser
from workers.nightly_auditor import NightlyAuditor
from workers.queue_watch import QueueWatch
from workers.rating_errors import RatingErrorRefresher
from workers.repeated_steps import run_steps
from workers.tournaments import TournamentAdvancer

log = logging.getLogger(__name__)

SWEEP_S = 1.0
EXPIRING = (idempotency, requests, former_names)  # what is kept for some time


class Scheduler:
    """Sweep over the database repeatedly, to find due work. ``ladders`` are the official ladders of the service.

    ``runner_slots`` is the setting of this name.
    """

    def __init__(
        self,
        database: Database,
        redis: Redis,
        master_key: bytes,
        ladders: Sequence[OfficialLadder] = (),
        *,
        runner_slots: int = 100,
    ) -> None:
        self._database = database
        self._ladders = ladders
        self._redis = redis
        self._master_key = master_key
        self._events = TournamentAdvancer(database, master_key)
        self._announcer = change_notifier.ChangeNotifier(redis)
        self._queue_watch = QueueWatch(redis, runner_slots)
        self._friendly_watch = FriendlyWatch(redis, runner_slots, master_key)
        self._prepared = False
        self.working = threading.Event()  # cleared from the start of a pause until the schema proves right

    def sweep(self) -> None:
        """Sweep once.

        1. Wake runners for due work, before anything that may fail.
        2. Notice due matches that nobody claims. End friendlies that last too long while others wait.
        3. List due matches that nobody would find, which happens only after an error.
        4. Close deal groups that ended with a cancelled match.
        5. Delete idempotency keys, requests and former names that are not kept any longer, and data of deleted bots.
           Remove statistics of SQLite.
        6. Start and advance tournaments.
        7. Make the matches that are due on official ladders.
        """
        with self._database.read() as session:
            groups_to_close = deal_groups.list_groups_to_close(session)
            expired = [kept for kept in EXPIRING if kept.has_expired(session)]
            todo = claims.find_due_work(session)
            is_extra_work_due = extra_work.has_due(session)
            is_match_missing = queued_seats.is_oldest_missing(session)
            was_analyzed = statistics.has_statistics(session)
        for match_id in todo.isolated:
            queues.wake_alone(self._redis, match_id)
        if todo.matches_due or todo.bots_due or is_extra_work_due:
            queues.wake(self._redis)
        self._queue_watch.step(self._database)
        if self._friendly_watch.step(self._database):
            self._announcer.notify()
        if is_match_missing:
            log.error("queue_repaired")
            self._repair_queue()
        self._close(groups_to_close)
        for kept in expired:
            with self._database.write() as session:
                kept.delete_expired(session)
        if was_analyzed:
            log.warning("statistics_removed")  # with them, pages are slower
            statistics.remove_statistics(self._database)
        self._erase()
        if self._events.advance_all() | self._make_ladder_matches():
            queues.wake(self._redis)
            self._announcer.notify()

    def _erase(self) -> None:
        """Erase what is left of deleted bots whose matches are over."""
        with self._database.read() as session:
            if not erasure.has_unfinished(session):
                return
        with self._database.write() as session:
            erased = erasure.finish_erasures(session)
        log.info("deleted_bots_erased", extra={"complete": erased})

    def _repair_queue(self) -> None:
        with self._database.write() as session:
            queued_seats.repair_queue(session)

    def _make_ladder_matches(self) -> bool:
        """Make the matches that are due on official ladders. Return whether there were any."""
        with self._database.read() as session:
            if not official_matches.has_work(session, master_key=self._master_key):
                return False
        try:
            with self._database.write() as session:
                return official_matches.make_matches(session, master_key=self._master_key) > 0
        except Unavailable:
            raise
        except RefereeError as error:  # a bot changed at that moment; the next sweep chooses again
            log.warning("ladder_matches_not_made", extra={"reason": str(error)})
            return False

    def _close(self, group_ids: list[str]) -> None:
        for group_id in group_ids:
            try:
                with self._database.write() as session:
                    deal_groups.remove_group_to_close(session, group_id)
                    deal_group_closing.close_if_over(session, group_id, master_key=self._master_key)
            except deal_groups.WrongMasterKey as error:  # affects no other group
                log.error("deal_group_not_closed", extra={"group": group_id, "reason": str(error)})

    def _prepare(self) -> None:
        if not self._prepared:
            with self._database.write() as session:
                house_bots.get_or_create_house_bots(session)
            with self._database.write() as session:
                sync_ladders(session, self._ladders)
            self._repair_queue()
            self._prepared = True
            with self._database.write() as session:
                checks.catch_up(session)

    def _may_work(self) -> bool:
        """Return whether there is no pause. After one, raise ``WrongSchema`` if the schema has changed."""
        if worker_pause.is_paused(self._redis):
            if self.working.is_set():
                log.warning("scheduler_paused")
                self.working.clear()
            return False
        if not self.working.is_set():
            revisions.check(self._database)
            self.working.set()
            log.info("scheduler_working")
        return True

    def run(self, stopped: threading.Event, *, every_s: float = SWEEP_S) -> None:
        """Sweep every ``every_s`` seconds until ``stopped`` is set. Log errors and continue. Pause with the workers.

        Raise ``WrongSchema`` if the schema was upgraded meanwhile.

        Before the first sweep, repair the list of due matches, create the house bots, so that owners find opponents,
        create the official ladders, and schedule checks of bots whose certificates are for outdated rules.
        """
        while not stopped.is_set():
            try:
                if self._may_work():
                    self._prepare()
                    self.sweep()
            except revisions.WrongSchema:
                raise
            except Unavailable as error:
                log.warning("sweep_postponed", extra={"reason": str(error)})
            except Exception:
                log.exception("sweep_failed")
            stopped.wait(every_s)
        self._announcer.close()


def main() -> int:
    """Run the scheduler until a stop signal.

    Return the exit status: 0, or 2 if the settings or the database are unusable.
    """
    logging_setup.configure()
    settings = load_settings_at_start()
    if settings is None:
        return 2
    if settings.redis_url is None:
        log.error("REDIS_URL is not set. Set it, or use `referee up`, which sets it for the processes that it starts.")
        return 2
    try:
        ladders = load_official_ladders(settings.ladders)
        of_extras = {name: plugs.load(start) for extra in plugs.extras() for name, start in extra.tasks.items()}
    except (BadSettings, plugs.BrokenExtra) as error:
        log.error(str(error))
        return 2
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    database = Database.from_settings(settings)
    if not is_usable_at_start(database):
        return 2
    tasks = {
        "rating_errors": RatingErrorRefresher(database).step,
        "month_closing": MonthCloser(database).step,
        "nightly_audit": NightlyAuditor(database).step,
    }
    tasks |= {name: start(database, settings) for name, start in of_extras.items()}
    if settings.metrics is not None:
        server = MetricsServer(settings.metrics, database, settings.redis_url)
        tasks["metrics_server"] = server.step
    scheduler = Scheduler(
        database, queues.connect(settings.redis_url), settings.master_key, ladders, runner_slots=settings.runner_slots
    )
    threads = [
        threading.Thread(target=run_steps, args=(name, step, stopped, scheduler.working), name=name)
        for name, step in tasks.items()
    ]
    for thread in threads:
        thread.start()
    gc.freeze()  # exclude imported modules from garbage collection
    status = 0
    try:
        scheduler.run(stopped)
    except revisions.WrongSchema as error:
        log.error(str(error))
        status = 2
        stopped.set()
    for thread in threads:
        thread.join()
    database.dispose()
    return status


if __name__ == "__main__":
    sys.exit(main())
