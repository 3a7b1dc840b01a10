"""Tells owners what happened: claims deliveries that are due and posts them, signed, beside the matches of a runner.

When a delivery is due and what a failure leads to is the record's; what may be called is the guard's.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, Reply, Target
from referee.errors import StaleEpoch, Unavailable
from referee.protocol.signing import webhook_secret
from referee.webhooks import deliveries
from referee.webhooks.deliveries import DeliveryJob, DeliveryOutcome
from workers.batch_writer import Recorder

log = logging.getLogger(__name__)

AT_ONCE = 32  # a runner, beside its matches
DEADLINE_MS = 10_000  # from looking up the name to the last byte of the answer
LONG_S = 0.05  # for a claim: it looked at very many that are due at addresses that take no more now
REST = 10  # times as long as a long claim took: it keeps others from writing meanwhile
GRACE_S = 2.0  # for answers under way when we are told to stop

# An answer of 2xx says that the message arrived, whatever is wrong with the rest of it: nothing of it is used.
_NO_MATTER = ("", "bad_status", "bad_content_type", "encoding_refused", "response_too_large")


class WebhookSender:
    """Sends what is due, a task each, so that a slow receiver holds up nobody but itself."""

    def __init__(
        self,
        recorder: Recorder,
        policy: Policy,
        master_key: bytes,
        *,
        deadline_ms: int = DEADLINE_MS,
        chance: Callable[[], float] = random.random,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.delivered = 0
        self._recorder = recorder
        self._policy = policy
        self._master_key = master_key
        self._deadline_ms = deadline_ms
        self._chance = chance
        self._seconds = seconds
        self._resting_until = float("-inf")
        self._tasks: dict[asyncio.Task[None], DeliveryJob] = {}

    @property
    def is_busy(self) -> bool:
        return bool(self._tasks)

    async def collect(self) -> None:
        """Begins to send what is due and fits in. Raises ``Unavailable`` when the record cannot answer."""
        room = AT_ONCE - len(self._tasks)
        asked_at = self._seconds()
        if room <= 0 or asked_at < self._resting_until or not await self._recorder.read(deliveries.any_due):
            return
        parcels = await self._recorder.write(deliveries.claim_due, room)
        if (took_s := self._seconds() - asked_at) > LONG_S:
            self._resting_until = self._seconds() + REST * took_s
        for parcel in parcels:
            task = asyncio.create_task(self._send(parcel))
            self._tasks[task] = parcel
            task.add_done_callback(lambda done: self._tasks.pop(done, None))

    async def wait(self) -> None:
        """Returns when all that was collected has been sent, well or not."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self, *, grace_s: float = GRACE_S) -> None:
        """Lets answers come in for a moment, then drops the calls: others send these messages again."""
        if not self._tasks:
            return
        await asyncio.wait(self._tasks, timeout=grace_s)
        dropped = dict(self._tasks)
        for task in dropped:
            task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
        try:
            await self._recorder.write(deliveries.give_back, list(dropped.values()))
        except Unavailable as error:
            log.warning("deliveries not given back, their leases will run out", extra={"reason": str(error)})

    async def _send(self, parcel: DeliveryJob) -> None:
        """The edge of a delivery: nothing that goes wrong in one reaches another."""
        where = {"webhook": parcel.webhook_id, "delivery": parcel.delivery_id}
        try:
            outcome = outcome_of(await self._posted(parcel))
            await self._recorder.write(
                deliveries.finish, parcel.delivery_id, parcel.epoch, outcome, spread=self._chance()
            )
            self.delivered += outcome.problem is None
            log.info("delivery tried", extra={**where, "answer": outcome.answer, "problem": outcome.problem})
        except StaleEpoch as error:
            log.info("delivery is void", extra={**where, "reason": str(error)})
        except Unavailable as error:
            log.warning("delivery not recorded, it will be repeated", extra={**where, "reason": str(error)})
        except Exception:
            log.exception("delivery failed", extra=where)

    async def _posted(self, parcel: DeliveryJob) -> Reply:
        secrets = tuple(
            webhook_secret(self._master_key, parcel.webhook_id, generation) for generation in parcel.secret_generations
        )
        caller = BotCaller(Target(parcel.webhook_id, parcel.url, secrets, max_concurrent_requests=1), self._policy)
        try:
            # A connection of its own: the next message may be a day away.
            path = "" if urlsplit(parcel.url).path else "/"
            return await caller.post(path, parcel.body, parcel.delivery_id, self._deadline_ms)
        finally:
            caller.close()


def outcome_of(reply: Reply) -> DeliveryOutcome:
    """What a reply means for the delivery it answers."""
    answer = reply.status or None
    if 200 <= reply.status < 300 and reply.fault in _NO_MATTER:
        return DeliveryOutcome(answer)
    if reply.fault == "bad_status":
        return DeliveryOutcome(answer, f"{reply.status}, expected 2xx")
    return DeliveryOutcome(answer, f"{reply.fault}: {reply.detail}", ours=reply.fault == "uplink_down")
