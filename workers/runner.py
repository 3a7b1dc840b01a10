"""Claim and run all due work (matches, handshakes, checks and work of extras) in one event loop until nothing is left.

When the runner must stop, or is old, it releases its claims, and other runners continue. It claims until then.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from referee.botclient.address_caps import AddressCaps
from referee.botclient.address_guard import Policy
from referee.botclient.client import CallLimits
from referee.bots import checks, handshakes
from referee.db import change_notifier
from referee.db.engine import Database
from referee.errors import CallNotMade, NoRoom, Unavailable
from referee.matches.queue import claims
from referee.matches.queue.claims import Claim, ClaimedMatch
from referee.matches.states import MatchState
from referee.metrics import catalog
from referee.metrics.process_metrics import ProcessMetrics
from referee.metrics.shared import Sender, connect
from referee.runtime.log_context import begin_work
from referee.runtime.open_files import report_open_files
from referee.settings import Settings
from referee.workflows.bots import check_claims
from workers import queues, shutdown
from workers.bot_checks import CheckParameters, check_bot, perform_handshake
from workers.capacity import Capacity
from workers.claim_file import RecordClaims
from workers.clock_watch import ClockWatch
from workers.connectivity import Connectivity
from workers.database_thread import DatabaseThread
from workers.extra_work import ExtraWork
from workers.forced_waits import ResponseTimes
from workers.lease_renewal import LeaseRenewer
from workers.match_claiming import MatchClaimer
from workers.match_context import HandedOver, MatchContext
from workers.match_runner import play_match
from workers.runner_counters import RunnerCounters

log = logging.getLogger(__name__)

Claimed = TypeVar("Claimed", handshakes.ClaimedHandshake, checks.ClaimedCheck)

POLL_S = 0.25  # pause between two searches for more work while there is room
LIFETIME_S = 300.0  # age at which everything is handed over to a new work-horse
LONGEST_LIFE_S = 3000.0  # age at which that happens even if something should end first, well before RQ's timeout
HAND_OVER_PAUSE_S = 10.0  # pause before the next attempt to hand over, while Redis or the database is away
OUTAGE_PAUSE_S = 1.0  # pause before a match that our own outage interrupted is released
HANDSHAKES_AT_ONCE = 40  # concurrent handshakes
CHECKS_AT_ONCE = 3  # concurrent checks; threads prepare their questions while matches are played
GRACE_S = 2.0  # time for open questions after a stop request


class Runner:
    """Run many matches concurrently in one event loop. ``run`` returns when nothing is due, or soon after ``stop``.

    ``clock`` is that of the worker, which knows what happened before this work-horse was forked. ``report_shortage``
    gets the reason when this host lacks resources.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        *,
        connectivity: Connectivity | None = None,
        clock: ClockWatch | None = None,
        record_claims: RecordClaims = lambda _kind, _claims: None,
        suite: CheckParameters | None = None,
        report_shortage: Callable[[str], None] | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.counters = RunnerCounters()
        self._slots = settings.runner_slots
        self._capacity = Capacity(settings.runner_slots, seconds, report=report_shortage)
        self._master_key = settings.master_key
        self._database = database
        self._metrics = ProcessMetrics()
        self._thread = DatabaseThread(database, master_key=settings.master_key, metrics=self._metrics)
        self._policy = Policy.from_settings(settings)
        self._limits = CallLimits(AddressCaps())
        self._handshake_limits = CallLimits(AddressCaps.for_handshakes())
        self._forced_move_waits = settings.forced_move_waits
        self._response_times = ResponseTimes()
        self._connectivity = connectivity or Connectivity.create(
            settings, self._policy, clock or ClockWatch.for_database(database)
        )
        self._record_claims = record_claims
        self._suite = suite or CheckParameters()
        self._handshakes_running: Counter[str] = Counter()  # by owner
        self._checks_running = 0
        self._redis = None if settings.redis_url is None else queues.connect(settings.redis_url)
        self._notifier = change_notifier.ChangeNotifier(self._redis)
        self._sender = None if settings.redis_url is None else self._create_sender(settings.redis_url)
        self._extra_work = ExtraWork(self._thread, self._policy, self._master_key, settings.public_url)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._seconds = seconds
        self._started_at = seconds()
        self._hand_over_at_s = LIFETIME_S  # age
        self._unfinished: set[Hashable] = set()  # checks, and questions asked again, that should end before
        self._claimer = MatchClaimer(
            self._thread, self._capacity, self.counters, slots=settings.runner_slots, seconds=seconds
        )
        self._something_ended = False  # whether a task has ended since the last search for more work

    def stop(self) -> None:
        """Request the end of ``run``. It waits briefly for open questions and the database, and asks nothing new."""
        log.info("stop_requested")
        self._stopping.set()
        asyncio.get_running_loop().call_later(GRACE_S, self._thread.give_up)

    async def run_in_worker(self, *, match_id: str | None = None) -> RunnerCounters:
        """Run until nothing is due or the worker of this work-horse requests a stop."""
        asyncio.get_running_loop().add_signal_handler(shutdown.SIGNAL, self.stop)
        if shutdown.is_stop_requested():
            self.stop()
        return await self.run(match_id=match_id)

    async def run(self, *, match_id: str | None = None) -> RunnerCounters:
        """Run everything that is due or, with ``match_id``, only that match, which other runners lost."""
        self._is_alone = match_id is not None
        self._lease_renewer = LeaseRenewer(self._database)
        self._lease_renewer.start()
        if self._sender is not None:
            self._sender.start()
        try:
            await self._run_loop(match_id)
        finally:
            await asyncio.gather(self._end_tasks(), self._extra_work.stop())
            if self._redis is not None and self._is_old:
                await asyncio.to_thread(queues.wake, self._redis)
            self._lease_renewer.stop()
            self._thread.close()
            self._notifier.close()
            if self._sender is not None:
                self._sender.stop()
        self.counters.ended = self._end_reason()
        log.info("runner_finished", extra=vars(self.counters))
        return self.counters

    async def _run_loop(self, match_id: str | None) -> None:
        if match_id is not None:
            await self._claim_alone(match_id)
        while not self._stopping.is_set():
            self._connectivity.clock.ahead_s()  # notes a jump when it happens
            self._something_ended = False
            if await self._may_hand_over():
                log.info("runner_is_old")
                self._stopping.set()
                return
            if match_id is None:
                await self._claim_due()
            if not self._tasks and not self._extra_work.is_busy:
                if self._capacity.is_resting:
                    await self._wait_for_room()  # the next work-horse would not know what this one lacks
                    continue
                if self._something_ended:
                    continue  # the ended task may have made more work due, as a handshake does for a check
                return
            await self._wait_for_room()

    async def _may_hand_over(self) -> bool:
        """Return whether the runner is old and may end now. Until then, it claims and plays whatever is due.

        It stays while a check runs, which would start from its beginning, or a question that was interrupted before is
        open; during an outage or a rest, since the next runner would not know how long matches have waited or what this
        one lacks; without Redis, since no runner would follow; and without a database, since no claim could be
        released.
        """
        if self._age_s() < self._hand_over_at_s:
            return False
        if self._age_s() >= LONGEST_LIFE_S:
            return True
        if self._unfinished or self._connectivity.is_troubled or self._capacity.is_resting:
            return False
        can_wake = self._redis is None or await asyncio.to_thread(queues.can_wake, self._redis)
        if can_wake and await self._has_database():
            return True
        self._hand_over_at_s = self._age_s() + HAND_OVER_PAUSE_S
        return False

    async def _has_database(self) -> bool:
        try:
            await self._thread.read(claims.find_due_work)
        except Unavailable:
            return False
        return True

    async def _claim_alone(self, match_id: str) -> None:
        try:
            self._start_matches(await self._thread.write(claims.claim_isolated_matches, 1, match_id=match_id))
        except Unavailable as error:  # the scheduler wakes another runner for it
            log.warning("claim_failed", extra={"reason": str(error)})

    async def _claim_due(self) -> None:
        """Claim due work, as far as there is room. Claim no matches while one waits that must be played alone."""
        if self._capacity.is_resting:
            return
        try:
            todo = await self._thread.read(claims.find_due_work)
            if todo.bots_due:
                await self._take_handshakes_and_checks()
            await self._extra_work.start_due()
            if todo.matches_due and not todo.isolated:
                await self._claim_matches(todo.newest)
        except Unavailable as error:
            log.warning("claim_failed", extra={"reason": str(error)})

    async def _claim_matches(self, newest: datetime | None) -> None:
        """Claim and start matches as long as there is room.

        End when a stop is requested, since matches claimed afterwards are handed over immediately and are due again.
        """
        while not self._stopping.is_set() and (claimed := await self._claimer.claim_some(newest)):
            self._start_matches(claimed)

    async def _take_handshakes_and_checks(self) -> None:
        await self._take_handshakes()
        if (room := CHECKS_AT_ONCE - self._checks_running) > 0:
            for claimed in await self._thread.write(check_claims.claim_due, room):
                self._checks_running += 1
                self._spawn(self._check(claimed))

    async def _take_handshakes(self) -> None:
        room = min(HANDSHAKES_AT_ONCE - self._handshakes_running.total(), handshakes.HANDSHAKES_AT_ONCE)
        if room <= 0:
            return
        claim = partial(handshakes.claim_due_handshakes, running=+self._handshakes_running)
        for handshake in await self._thread.write(claim, room):
            self._handshakes_running[handshake.owner_id] += 1
            self._spawn(self._handshake(handshake))

    async def _wait_for_room(self) -> None:
        """Wait up to ``POLL_S`` or until half of the slots are free, because each search for work costs a query."""
        stop = asyncio.create_task(self._stopping.wait())
        look_at = asyncio.get_running_loop().time() + POLL_S
        while (left_s := look_at - asyncio.get_running_loop().time()) > 0 and not self._stopping.is_set():
            await asyncio.wait({*self._tasks, stop}, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            if len(self._tasks) * 2 <= self._slots:
                break
        stop.cancel()

    async def _end_tasks(self) -> None:
        """Wait ``GRACE_S`` for open questions, then cancel them; other runners continue their matches."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE_S)
        self._thread.give_up()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start_matches(self, claimed: list[ClaimedMatch]) -> None:
        self._record_claims("match", [match.claim for match in claimed])
        if lost := sum(match.has_replaced_lost for match in claimed):
            self._metrics.count(catalog.LEASES_EXPIRED, by=lost)
        for match in claimed:
            self._claimer.in_use.take(match.lane)
            self._spawn(self._play_match(match))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_end)

    def _on_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._something_ended = True

    async def _play_match(self, claimed: ClaimedMatch) -> None:
        """Play a match, then return the places that it used."""
        begin_work(match=claimed.claim.match_id)
        outcome = "handed_over"
        try:
            outcome = await self._play_claimed(claimed.claim)
        finally:
            self._metrics.count(catalog.MATCHES_ENDED, claimed.lane.kind, outcome)
            self._claimer.free(claimed)

    async def _play_claimed(self, claim: Claim) -> str:
        """Play a match and return how that ended. Handle every error here, so that it affects no other match."""
        playing = MatchContext(
            claim=claim,
            database=self._thread,
            policy=self._policy,
            limits=self._limits,
            master_key=self._master_key,
            is_stopping=self._stopping.is_set,
            connectivity=self._connectivity,
            keep_claim=lambda: self._lease_renewer.keep_claim(claim),
            notify_spectators=self._notifier.notify,
            record_claims=self._record_claims,
            forced_move_waits=self._forced_move_waits,
            response_times=self._response_times,
            metrics=self._metrics,
            count_decisions=self.counters.count_decisions,
            now_s=lambda: self._database.clock.boot()[1],
            unfinished=self._unfinished,
        )
        try:
            finished = await play_match(playing)
            self.counters.finished += finished
            self._capacity.note_success()
            return MatchState.FINISHED.value if finished else "lost"
        except HandedOver as reason:
            await self._hand_over(playing, str(reason))
        except CallNotMade as reason:
            self._capacity.note_shortage(len(self._tasks), str(reason))
            await self._hand_over(playing, str(reason))
        except Unavailable as reason:
            try:
                await asyncio.sleep(OUTAGE_PAUSE_S)
            finally:  # also if the runner stops meanwhile
                await self._hand_over(playing, str(reason))
        except asyncio.CancelledError:
            # Another runner claimed the match, or this runner stops. Releasing a lost claim changes nothing.
            await self._hand_over(playing, "cancelled")
            raise
        except Exception:
            # This is a bug of ours. The lease expires, so the claim counts as lost. After two lost claims the match is
            # played alone, and a match that makes no progress becomes stuck instead of being claimed forever.
            self.counters.failed += 1
            log.exception("match_failed", extra={"match": claim.match_id})
            return "failed"
        return "handed_over"

    async def _hand_over(self, playing: MatchContext, reason: str) -> None:
        claim = playing.claim
        self.counters.handed_over += 1
        log.info("match_handed_over", extra={"match": claim.match_id, "reason": reason})
        release = partial(
            claims.release_claims, interrupted=playing.interrupted or None, is_harmless=self._is_old and self._is_alone
        )
        try:
            await self._thread.write(release, [claim])
        except Unavailable as error:
            log.warning("claim_not_released", extra={"match": claim.match_id, "reason": str(error)})

    async def _handshake(self, handshake: handshakes.ClaimedHandshake) -> None:
        begin_work(bot=handshake.bot_id)
        try:
            await perform_handshake(
                handshake, self._thread, self._policy, self._handshake_limits, self._master_key, self._connectivity
            )
            self.counters.handshakes += 1
        except asyncio.CancelledError:
            await self._thread.write(handshakes.release_claim, handshake)
            raise
        except NoRoom as error:
            await self._put_off(handshakes.release_claim, handshake, str(error))
        except Unavailable as error:
            log.warning("handshake_not_recorded", extra={"bot": handshake.bot_id, "reason": str(error)})
        except Exception:
            log.exception("handshake_failed", extra={"bot": handshake.bot_id})
        finally:
            self._handshakes_running[handshake.owner_id] -= 1

    async def _check(self, claimed: checks.ClaimedCheck) -> None:
        begin_work(bot=claimed.bot_id)
        if not self._is_old:
            self._unfinished.add(claimed.bot_id)
        try:
            await check_bot(
                claimed, self._thread, self._policy, self._limits, self._master_key, self._suite, self._connectivity
            )
            self.counters.checks += 1
        except NoRoom as error:
            await self._put_off(checks.give_back, claimed, str(error))
        except Unavailable as error:
            log.warning("check_not_recorded", extra={"bot": claimed.bot_id, "reason": str(error)})
        except Exception:
            log.exception("check_failed", extra={"bot": claimed.bot_id})
        finally:
            self._checks_running -= 1
            self._unfinished.discard(claimed.bot_id)
            self._claimer.planner.add_freed([claimed.bot_id])

    async def _put_off(self, release: Callable[[Session, Claimed], object], claimed: Claimed, reason: str) -> None:
        """Make a handshake or a check due again for which there was no place at the address."""
        log.info("call_put_off", extra={"bot": claimed.bot_id, "reason": reason})
        try:
            try:
                await asyncio.sleep(OUTAGE_PAUSE_S)
            finally:
                await self._thread.write(release, claimed)
        except Unavailable as error:  # its lease expires
            log.warning("claim_not_released", extra={"bot": claimed.bot_id, "reason": str(error)})

    def _end_reason(self) -> str:
        if self._is_old:
            return "lifetime_over"
        return "stop_requested" if self._stopping.is_set() else "nothing_due"

    @property
    def _is_old(self) -> bool:
        return self._age_s() >= LIFETIME_S

    def _age_s(self) -> float:
        return self._seconds() - self._started_at

    def _create_sender(self, redis_url: str) -> Sender:
        """Return the sender of the metrics of this work-horse."""
        self._metrics.follow(catalog.RUNNER_CPU, time.process_time)
        self._metrics.report("referee_runner_matches", lambda: self._claimer.in_use.total)
        self._metrics.report("referee_open_files", report_open_files)
        return Sender(self._metrics, connect(redis_url))
