"""Send webhook deliveries: claim those that are due and POST them in the format of their webhook.

``deliveries`` decides about retries, ``address_guard`` about allowed addresses.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from referee.botclient.address_caps import AddressCaps
from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, CallLimits, CallTarget
from referee.botclient.reply import Reply
from referee.errors import StaleEpoch, Unavailable
from referee.plugs import RunnerWork
from referee_extras.notifications import deliveries, result_messages
from referee_extras.notifications.deliveries import DeliveryJob, DeliveryOutcome
from referee_extras.notifications.presets import render_body
from workers.database_thread import DatabaseThread

log = logging.getLogger(__name__)

SecretsOf = Callable[[str, Sequence[int]], tuple[str, ...]]  # of an id and generations

MAX_CONCURRENT = 32  # concurrent deliveries of a runner
DEADLINE_MS = 10_000  # from the DNS lookup to the last byte of the response
SLOW_CLAIM_S = 0.05  # a longer claim has searched many deliveries to addresses at their limit
REST_FACTOR = 10  # pause after such a claim, in multiples of its duration, since it blocks other writers
GRACE_S = 2.0  # time for pending responses after a stop request

# A 2xx status means that the message arrived, even if the rest of the response, which is not used, is malformed.
_IGNORED_FAULTS = ("", "bad_status", "bad_content_type", "encoding_refused", "response_too_large")


class WebhookSender:
    """Send due deliveries, each in its own task, so that a slow receiver delays no other."""

    def __init__(
        self,
        database: DatabaseThread,
        policy: Policy,
        secrets_of: SecretsOf,
        *,
        public_url: str = "",
        deadline_ms: int = DEADLINE_MS,
        chance: Callable[[], float] = random.random,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.delivered = 0
        self._database = database
        self._policy = policy.without_private()  # those are for bots
        self._limits = CallLimits(AddressCaps.for_deliveries())
        self._secrets_of = secrets_of
        self._public_url = public_url
        self._deadline_ms = deadline_ms
        self._chance = chance
        self._seconds = seconds
        self._resting_until = float("-inf")
        self._tasks: dict[asyncio.Task[None], DeliveryJob] = {}

    @property
    def is_busy(self) -> bool:
        return bool(self._tasks)

    async def start_due(self) -> None:
        """Report new results, and start sending due deliveries, as far as there is room.

        Raise ``Unavailable`` if the database is down.
        """
        if await self._database.read(result_messages.has_unreported):
            await self._database.write_soon(result_messages.report_results)
        room = MAX_CONCURRENT - len(self._tasks)
        asked_at = self._seconds()
        if room <= 0 or asked_at < self._resting_until or not await self._database.read(deliveries.has_due):
            return
        jobs = await self._database.write(deliveries.claim_due, room)
        if (took_s := self._seconds() - asked_at) > SLOW_CLAIM_S:
            self._resting_until = self._seconds() + REST_FACTOR * took_s
        for job in jobs:
            task = asyncio.create_task(self._send(job))
            self._tasks[task] = job
            task.add_done_callback(lambda done: self._tasks.pop(done, None))

    async def wait(self) -> None:
        """Wait until every delivery in progress has succeeded or failed."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self, *, grace_s: float = GRACE_S) -> None:
        """Wait ``grace_s`` for pending responses, then cancel the calls and release the claims."""
        if not self._tasks:
            return
        await asyncio.wait(self._tasks, timeout=grace_s)
        dropped = dict(self._tasks)
        for task in dropped:
            task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
        try:
            await self._database.write(deliveries.release_claims, list(dropped.values()))
        except Unavailable as error:
            log.warning("deliveries_not_released", extra={"reason": str(error)})

    async def _send(self, job: DeliveryJob) -> None:
        """Attempt a delivery. Handle every error here, so that it affects no other delivery."""
        where = {"webhook": job.webhook_id, "delivery": job.delivery_id}
        try:
            outcome = outcome_of(await self._post(job))
            await self._database.write(deliveries.finish, job.delivery_id, job.epoch, outcome, jitter=self._chance())
            self.delivered += outcome.error is None
            log.info("delivery_attempted", extra={**where, "status": outcome.response_status, "error": outcome.error})
        except StaleEpoch as error:
            log.info("delivery_claim_lost", extra={**where, "reason": str(error)})
        except Unavailable as error:
            log.warning("delivery_not_recorded", extra={**where, "reason": str(error)})
        except Exception:
            log.exception("delivery_failed", extra=where)

    async def _post(self, job: DeliveryJob) -> Reply:
        secrets = self._secrets_of(job.webhook_id, job.secret_generations)
        target = CallTarget(job.webhook_id, job.url, secrets, deliveries.PER_TARGET, job.owner_id)
        caller = BotCaller(target, self._policy, self._limits)
        try:
            # The connection is not reused, because the next message may be sent as late as a day afterwards.
            path = "" if urlsplit(job.url).path else "/"
            body = render_body(job.kind, job.body, self._public_url)
            return await caller.post(path, body, job.delivery_id, self._deadline_ms)
        finally:
            caller.close()


def outcome_of(reply: Reply) -> DeliveryOutcome:
    """Return the outcome of a delivery that got this response."""
    answer = reply.status or None
    if 200 <= reply.status < 300 and reply.fault in _IGNORED_FAULTS:
        return DeliveryOutcome(answer)
    if reply.fault == "bad_status":
        return DeliveryOutcome(answer, f"{reply.status}, expected 2xx")
    return DeliveryOutcome(answer, f"{reply.fault}: {reply.detail}", is_our_outage=reply.fault == "uplink_down")


def has_due(session: Session) -> bool:
    """Return whether there are results to report or deliveries to send."""
    return result_messages.has_unreported(session) or deliveries.has_due(session)


def is_unclaimed(session: Session) -> bool:
    """Return whether deliveries are due and none is under way."""
    return deliveries.has_due(session) and not deliveries.has_claimed(session)


WORK: Final = RunnerWork(name="messages", has_due=has_due, is_unclaimed=is_unclaimed, start=WebhookSender)
