"""Plays what is due: claims matches and checks from the record, many at once in one event loop, until none is left.

How a match goes is the match's; here it is loaded, driven, written down, closed, and handed on when we must stop.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from referee.botclient.address_guard import Policy
from referee.botclient.client import CallLimits
from referee.bots import checks as examinations
from referee.bots import handshakes
from referee.db import change_notifier
from referee.db.engine import Database
from referee.errors import Unavailable
from referee.matches import claims, quotas
from referee.matches.claims import Claim
from referee.settings import Settings
from referee.workflows import examination_claims
from workers import queues, shutdown
from workers.batch_writer import Recorder
from workers.bot_checks import Suite, check_bot, examine_bot
from workers.connectivity import Uplink
from workers.lease_renewal import LeaseRenewer
from workers.match_runner import HandedOver, Playing, play
from workers.webhook_sender import WebhookSender

log = logging.getLogger(__name__)

CLAIM_AT_ONCE = 8  # a few at a time, so that runners that begin together share what is due
REST = 10  # times as long as a claim took that brought nothing: all that is due may wait for bots that are full
MOST_REST_S = 1.0  # at most, since a claim may be slow only because the database is busy
LOOK_S = 0.25  # between two looks for more while there is room
LIFETIME_S = 300.0  # then nothing new is taken: a fresh work-horse goes on
LAST_CALL_S = 3000.0  # then what is still being played is handed on, well before RQ's alarm
OUTAGE_S = 1.0  # before a match that we, not a bot, could not go on with is given back
EXAMINED_AT_ONCE = 3  # bots; what they are asked is made up in threads, beside the matches
GRACE_S = 2.0  # for the open questions when we are told to stop


@dataclass
class RunnerCounters:
    """Counts of what a runner did. ``claims`` is the number of times it tried to claim matches."""

    claims: int = 0
    finished: int = 0
    handed_on: int = 0
    failed: int = 0
    checked: int = 0
    examined: int = 0


class Runner:
    """One event loop full of matches. ``run`` ends when nothing is due, or soon after ``stop``."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        *,
        uplink: Uplink | None = None,
        suite: Suite | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tally = RunnerCounters()
        self._slots = settings.runner_slots
        self._friendlies = quotas.friendlies_at_once(settings.runner_slots)
        self._master_key = settings.master_key
        self._database = database
        self._recorder = Recorder(database)
        self._policy = Policy.from_settings(settings)
        self._limits = CallLimits()
        self._uplink = uplink or Uplink()
        self._suite = suite or Suite()
        self._examining = 0
        redis = None if settings.redis_url is None else queues.connect(settings.redis_url)
        self._announcer = change_notifier.Announcer(redis)
        self._courier = WebhookSender(self._recorder, self._policy, self._master_key)
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._seconds = seconds
        self._born = seconds()
        self._resting_s = 0.0  # the age of the runner until which it claims nothing
        self._something_ended = False  # since we last began to look for more

    def stop(self) -> None:
        """Asks for the end: open questions may still be answered, nothing new is asked."""
        log.info("told to stop")
        self._stopping.set()

    async def run(self, *, alone: str | None = None) -> RunnerCounters:
        """Plays all that is due; with ``alone`` that one match, which others have lost, and nothing else."""
        self._holder = LeaseRenewer(self._database)
        self._holder.start()
        try:
            await self._play_on(alone)
        finally:
            await asyncio.gather(self._end_tasks(), self._courier.stop())
            self._holder.stop()
        log.info("runner done", extra=vars(self.tally))
        return self.tally

    async def _play_on(self, alone: str | None) -> None:
        if alone is not None:
            self._begin(await self._recorder.write(claims.claim, 1, alone=True, match_id=alone))
        while not self._stopping.is_set():
            self._something_ended = False
            if alone is None and self._age_s() < LIFETIME_S:
                await self._take()
            if not self._tasks and not self._courier.is_busy:
                if self._something_ended:
                    continue  # what follows from it, as an examination from a check, may not have been seen yet
                return
            if self._age_s() > LAST_CALL_S:
                self.stop()
            await self._wait_for_room()

    async def _take(self) -> None:
        """Takes what is due and fits in; nothing while a match wants a work-horse of its own."""
        try:
            todo = await self._recorder.read(claims.sweep)
            room = min(self._slots - len(self._tasks), CLAIM_AT_ONCE)
            if todo.checks_due:
                await self._take_checks()
            await self._courier.collect()
            while room > 0 and (todo.due or todo.expired) and not todo.alone and not self._rests():
                asked_s = self._age_s()
                self.tally.claims += 1
                taken = await self._recorder.write(claims.claim, room, friendlies=self._friendlies)
                self._begin(taken)
                if not taken:
                    ended_s = self._age_s()
                    self._resting_s = ended_s + min(REST * (ended_s - asked_s), MOST_REST_S)
                room = min(self._slots - len(self._tasks), CLAIM_AT_ONCE) if taken else 0
        except Unavailable as error:
            log.warning("nothing claimed", extra={"reason": str(error)})

    def _rests(self) -> bool:
        """Return whether the runner is resting because its last claim found nothing.

        A claim looks through all due matches, and a match that ends frees only its own bots. With a claim after every
        match, a tournament whose bots are full would cost time quadratic in its matches. One claim after the rest
        therefore covers all matches that ended during it. A runner that plays nothing does not rest.
        """
        return bool(self._tasks) and self._age_s() < self._resting_s

    async def _take_checks(self) -> None:
        for check in await self._recorder.write(handshakes.claim_due_checks):
            self._spawn(self._check(check))
        if (room := EXAMINED_AT_ONCE - self._examining) > 0:
            for claimed in await self._recorder.write(examination_claims.claim_due, room):
                self._examining += 1
                self._spawn(self._examine(claimed))

    async def _wait_for_room(self) -> None:
        """Waits a little, less when half of the places come free: looking at the record is not for nothing."""
        stop = asyncio.create_task(self._stopping.wait())
        look_at = asyncio.get_running_loop().time() + LOOK_S
        while (left_s := look_at - asyncio.get_running_loop().time()) > 0 and not self._stopping.is_set():
            await asyncio.wait({*self._tasks, stop}, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            if len(self._tasks) * 2 <= self._slots:
                break
        stop.cancel()

    async def _end_tasks(self) -> None:
        """Lets open questions be answered for a moment, then drops them; their matches go to others."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, taken: list[Claim]) -> None:
        for claim in taken:
            self._spawn(self._match(claim))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_match_end)

    def _on_match_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._something_ended = True

    async def _match(self, claim: Claim) -> None:
        """The edge of a match: nothing that goes wrong in one reaches another."""
        playing = Playing(
            claim=claim,
            recorder=self._recorder,
            policy=self._policy,
            limits=self._limits,
            master_key=self._master_key,
            stopping=self._stopping.is_set,
            uplink=self._uplink,
            hold=lambda: self._holder.holding(claim),
            announce=self._announcer.say,
        )
        try:
            finished = await play(playing)
            self.tally.finished += finished
        except HandedOver as reason:
            await self._hand_on(claim, str(reason))
        except Unavailable as reason:
            await asyncio.sleep(OUTAGE_S)
            await self._hand_on(claim, str(reason))
        except asyncio.CancelledError:
            # Lost to another runner, or dropped at the end: giving back what is not ours changes nothing.
            await self._hand_on(claim, "dropped")
            raise
        except Exception:
            # Our own mistake. The claim runs out by itself, which counts as lost: after two the match is played
            # alone, and one that never gets on ends as stuck instead of going round for ever.
            self.tally.failed += 1
            log.exception("match failed", extra={"match": claim.match_id})

    async def _hand_on(self, claim: Claim, reason: str) -> None:
        self.tally.handed_on += 1
        log.info("match handed on", extra={"match": claim.match_id, "reason": reason})
        try:
            await self._recorder.write(claims.give_back, [claim])
        except Unavailable as error:
            log.warning("claim not given back, it will run out", extra={"reason": str(error)})

    async def _check(self, check: handshakes.ClaimedHandshake) -> None:
        try:
            await check_bot(check, self._recorder, self._policy, self._master_key)
            self.tally.checked += 1
        except Unavailable as error:
            log.warning("check not recorded, it will be repeated", extra={"bot": check.bot_id, "reason": str(error)})
        except Exception:
            log.exception("check failed", extra={"bot": check.bot_id})

    async def _examine(self, claimed: examinations.Claimed) -> None:
        try:
            await examine_bot(claimed, self._recorder, self._policy, self._limits, self._master_key, self._suite)
            self.tally.examined += 1
        except Unavailable as error:
            log.warning("not examined, it will be repeated", extra={"bot": claimed.bot_id, "reason": str(error)})
        except Exception:
            log.exception("examination failed", extra={"bot": claimed.bot_id})
        finally:
            self._examining -= 1

    def _age_s(self) -> float:
        return self._seconds() - self._born


async def run(settings: Settings, database: Database, *, alone: str | None = None) -> RunnerCounters:
    """A runner in this event loop, which stops at the word of its worker."""
    runner = Runner(settings, database)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(shutdown.SIGNAL, runner.stop)
    if shutdown.is_stop_requested():
        runner.stop()
    return await runner.run(alone=alone)
