"""Claim, finish, retry and list webhook deliveries. Messages are created in ``outbox`` and sent by runners."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement, and_, bindparam, or_, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time, lease_now, take_advisory_lock
from referee.db.leases import Leases
from referee.db.names import make_storable
from referee.db.paging import Cursor, Page, load_page
from referee.db.prepared import Prepared
from referee.errors import Conflict, NotFound
from referee_extras.notifications.notification_types import PING
from referee_extras.notifications.states import DeliveryState, WebhookKind, WebhookState
from referee_extras.notifications.tables import Delivery, Webhook
from referee_extras.notifications.webhooks import disable, signing_generations

DELAYS_S: Final = (5, 30, 120, 600, 3_600, 10_800, 21_600, 86_400)  # delays before the second attempt, the third, …
ATTEMPTS: Final = len(DELAYS_S) + 1
VERIFICATION_ATTEMPTS: Final = 4  # an unverified address is not retried for days
MAX_JITTER: Final = 0.2  # largest random share of a delay that is added to it, to spread retries
OUTAGE_DELAY: Final = timedelta(seconds=30)  # delay before the next attempt after an outage of our own network
DISABLE_AFTER: Final = timedelta(days=1)  # after this long without a success the webhook is disabled
MAX_QUEUE_LENGTH: Final = 10_000  # messages waiting for one webhook; with more, it is disabled
PER_TARGET: Final = 4  # concurrent deliveries to one address
PER_FAILING_TARGET: Final = 1
PER_ACCOUNT: Final = 8  # concurrent deliveries to all addresses of an owner, which may be one receiver with many names
LEASE_S: Final = 30.0  # longer than a call plus the wait to record its outcome
HTTP_GONE: Final = 410  # unsubscribes the receiver, according to the Standard Webhooks specification
LEASES: Final = Leases(Delivery, claimed=DeliveryState.DUE, lease_s=LEASE_S)
_PAGE_SIZE: Final = 100  # rows per query


@dataclass(frozen=True, slots=True)
class DeliveryJob:
    """Hold a claimed delivery with all that a runner needs to send it."""

    delivery_id: str
    epoch: int
    webhook_id: str
    kind: WebhookKind
    url: str
    secret_generations: tuple[int, ...]
    body: bytes
    owner_id: str


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """Describe the outcome of an attempt. ``error`` is None if the message was delivered.

    ``response_status`` is the HTTP status, or None without a response. ``is_our_outage`` means that our own network was
    down, so the attempt does not count.
    """

    response_status: int | None
    error: str | None = None
    is_our_outage: bool = False


def has_due(session: Session) -> bool:
    """Return whether any delivery may be claimed now."""
    boot, seconds = lease_now(session)
    return bool(_ANY_DUE.rows(session, {"moment": current_time(session), "boot": boot, "seconds": seconds}))


def has_claimed(session: Session) -> bool:
    """Return whether any delivery is under way."""
    return session.scalar(select(Delivery.id).where(LEASES.is_leased(*lease_now(session))).limit(1)) is not None


def claim_due(session: Session, limit: int) -> list[DeliveryJob]:
    """Claim up to ``limit`` deliveries that are due or whose lease expired, oldest first.

    Concurrent deliveries are limited to ``PER_TARGET`` per address (``PER_FAILING_TARGET`` for a failing webhook) and
    ``PER_ACCOUNT`` per account. Failing webhooks get at most half of ``limit``.
    """
    if limit < 1:
        return []
    take_advisory_lock(session, "deliveries")  # so that concurrent claims cannot exceed the limits
    boot, seconds = lease_now(session)
    moment = current_time(session)
    under_way = _count_claimed(session, boot, seconds)
    full: set[str] = set()
    jobs: list[DeliveryJob] = []
    failing = 0
    while len(jobs) < limit:
        rows = _lock_candidates(session, _is_claimable(moment, boot, seconds), full)
        chosen: list[tuple[Delivery, Webhook]] = []
        for delivery, webhook in rows:
            target, owner = _target(webhook.url), webhook.account_id
            fails = webhook.failing_since is not None
            crowded = under_way[target] >= (PER_FAILING_TARGET if fails else PER_TARGET)
            if crowded or under_way[owner] >= PER_ACCOUNT or (fails and failing >= limit // 2):
                full.add(webhook.id)
            elif delivery.attempts >= ATTEMPTS:
                _end_delivery(
                    delivery, DeliveryState.FAILED, f"the referee could not complete any of {ATTEMPTS} attempts"
                )
            elif len(jobs) + len(chosen) < limit:
                under_way.update((target, owner))
                failing += fails
                chosen.append((delivery, webhook))
        session.flush()
        jobs += _claim_delivery(session, chosen, moment, boot, seconds)
        if len(rows) < _PAGE_SIZE:
            break
    return jobs


def finish(session: Session, delivery_id: str, epoch: int, outcome: DeliveryOutcome, *, jitter: float) -> Delivery:
    """Record the outcome of an attempt.

    ``jitter``, from 0 to 1, is the share of ``MAX_JITTER`` by which the next delay is extended. Raise ``StaleEpoch`` if
    the delivery was claimed again or deleted, or the claim was revoked.
    """
    webhook = _lock_webhook_of(session, delivery_id)
    delivery = LEASES.lock(session, delivery_id, epoch, key_share=True)
    assert webhook is not None  # a webhook is deleted only together with its deliveries
    moment = current_time(session)
    delivery.response_status = outcome.response_status
    if outcome.error is None:
        _record_success(delivery, webhook, moment)
    elif outcome.is_our_outage:
        delivery.attempts -= 1
        _schedule_retry(delivery, moment + OUTAGE_DELAY, outcome.error)
    else:
        _record_failure(session, delivery, webhook, outcome, moment, jitter)
    session.flush()
    if webhook.status == WebhookState.ACTIVE and _is_overrun(session, webhook):
        disable(session, webhook, f"{MAX_QUEUE_LENGTH:,} messages were waiting: it accepts them too slowly")
        session.flush()
    return delivery


def release_claims(session: Session, jobs: Sequence[DeliveryJob]) -> int:
    """Release claims.

    They then do not count as attempts. Ignore invalid claims. Return the number of released claims.
    """
    claims = [(job.delivery_id, job.epoch) for job in jobs]
    return LEASES.release(session, claims, attempts=Delivery.attempts - 1)


def list_deliveries(
    session: Session, webhook_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[Delivery]:
    query = select(Delivery).where(Delivery.webhook_id == webhook_id)
    return load_page(session, query, Delivery.created_at.desc(), Delivery.id.desc(), limit=limit, cursor=cursor)


def redeliver(session: Session, delivery_id: str, *, account_id: str) -> Delivery:
    """Make a finished delivery due again, with the same id and body and with all attempts available again.

    Raise ``NotFound`` if it does not belong to this account, and ``Conflict`` if it is due or its webhook is not
    active.
    """
    webhook = _lock_webhook_of(session, delivery_id)
    delivery = session.get(Delivery, delivery_id, with_for_update={"key_share": True}, populate_existing=True)
    if webhook is None or delivery is None or webhook.account_id != account_id:
        raise NotFound("delivery", delivery_id)
    if webhook.status != WebhookState.ACTIVE:
        raise Conflict(f"The webhook is {webhook.status}; messages are sent only to active webhooks.")
    if delivery.status == DeliveryState.DUE:
        raise Conflict("The delivery is already due.")
    delivery.status, delivery.attempts, delivery.due_at = DeliveryState.DUE, 0, current_time(session)
    delivery.delivered_at = None
    delivery.revoke_claim()
    session.flush()
    return delivery


def _lock_webhook_of(session: Session, delivery_id: str) -> Webhook | None:
    """Lock and reread the webhook of a delivery. To avoid deadlocks, webhooks are always locked before deliveries."""
    is_webhook_of_delivery = (
        Webhook.id == select(Delivery.webhook_id).where(Delivery.id == delivery_id).scalar_subquery()
    )
    hook = select(Webhook).where(is_webhook_of_delivery).with_for_update(key_share=True)
    return session.scalar(hook.execution_options(populate_existing=True))


# -- claiming --


def _is_claimable(moment: Any, boot: Any, seconds: Any) -> ColumnElement[bool]:
    """Return the condition for deliveries that may be claimed. Unverified webhooks receive only pings."""
    accepts = or_(
        Webhook.status == WebhookState.ACTIVE,
        and_(Webhook.status == WebhookState.UNVERIFIED, Delivery.event == PING),
    )
    return and_(Delivery.due_at <= moment, LEASES.is_claimable(boot, seconds), accepts)


def _lock_candidates(session: Session, free: ColumnElement[bool], full: set[str]) -> Sequence[tuple[Delivery, Webhook]]:
    query = select(Delivery, Webhook).join(Webhook, Webhook.id == Delivery.webhook_id)
    query = query.where(free, Delivery.webhook_id.not_in(full)).order_by(Delivery.due_at, Delivery.id).limit(_PAGE_SIZE)
    rows = session.execute(query.with_for_update(of=Delivery, skip_locked=True))
    return [(delivery, webhook) for delivery, webhook in rows]


def _count_claimed(session: Session, boot: str, seconds: float) -> Counter[str]:
    """Return the numbers of claimed deliveries, keyed by the address (host and port) and also by the account id."""
    query = select(Webhook.url, Webhook.account_id).join(Delivery, Delivery.webhook_id == Webhook.id)
    leased = session.execute(query.where(LEASES.is_leased(boot, seconds)))
    return Counter(key for url, account_id in leased for key in (_target(url), account_id))


def _target(url: str) -> str:
    return urlsplit(url).netloc


def _claim_delivery(
    session: Session, chosen: Sequence[tuple[Delivery, Webhook]], moment: datetime, boot: str, seconds: float
) -> list[DeliveryJob]:
    epochs = LEASES.claim_keys(session, _CLAIM, [delivery.id for delivery, _ in chosen], boot, seconds)
    return [
        DeliveryJob(
            delivery.id,
            epochs[delivery.id],
            hook.id,
            hook.kind,
            hook.url,
            signing_generations(hook, moment) if hook.kind == WebhookKind.SIGNED else (),
            delivery.body,
            hook.account_id,
        )
        for delivery, hook in chosen
    ]


# -- outcomes --


def _record_success(delivery: Delivery, webhook: Webhook, moment: datetime) -> None:
    _end_delivery(delivery, DeliveryState.DELIVERED, None)
    delivery.delivered_at = moment
    webhook.failing_since = None
    if webhook.status == WebhookState.UNVERIFIED and delivery.event == PING:
        webhook.status, webhook.status_reason = WebhookState.ACTIVE, None
        webhook.revision += 1


def _record_failure(
    session: Session, delivery: Delivery, webhook: Webhook, outcome: DeliveryOutcome, moment: datetime, spread: float
) -> None:
    problem = make_storable(outcome.error or "")[:500]
    proving = webhook.status == WebhookState.UNVERIFIED
    webhook.failing_since = webhook.failing_since or moment
    if proving:
        webhook.status_reason = f"the ping failed: {problem}"
    if delivery.attempts < (VERIFICATION_ATTEMPTS if proving else ATTEMPTS):
        delay_s = DELAYS_S[delivery.attempts - 1] * (1 + MAX_JITTER * spread)
        _schedule_retry(delivery, moment + timedelta(seconds=delay_s), problem)
    else:
        _end_delivery(delivery, DeliveryState.FAILED, problem)
    if outcome.response_status == HTTP_GONE:
        _end_delivery(delivery, DeliveryState.FAILED, problem)
        disable(session, webhook, "it answered 410 Gone")
    elif moment - webhook.failing_since >= DISABLE_AFTER:
        _end_delivery(delivery, DeliveryState.FAILED, problem)
        disable(session, webhook, f"every delivery failed for a day; the last error: {problem}")


def _is_overrun(session: Session, webhook: Webhook) -> bool:
    """Return whether the webhook's queue is too long.

    This is the case if the oldest of its newest ``MAX_QUEUE_LENGTH`` messages was never attempted.
    """
    messages = select(Delivery.id).where(Delivery.webhook_id == webhook.id)
    older = messages.order_by(Delivery.created_at.desc(), Delivery.id.desc()).offset(MAX_QUEUE_LENGTH - 1).limit(1)
    waits = select(Delivery.id).where(
        Delivery.id == older.scalar_subquery(), Delivery.status == DeliveryState.DUE, Delivery.attempts == 0
    )
    return session.scalar(waits) is not None


def _schedule_retry(delivery: Delivery, due_at: datetime, problem: str) -> None:
    delivery.due_at, delivery.last_error = due_at, make_storable(problem)
    delivery.end_lease()


def _end_delivery(delivery: Delivery, status: DeliveryState, problem: str | None) -> None:
    delivery.status, delivery.last_error = status, problem
    delivery.end_lease()


# Count attempts when claiming, so that a message that crashes its senders fails in the end.
_CLAIM: Final = LEASES.prepare_claim(attempts=Delivery.__table__.c.attempts + 1)
_ANY_DUE: Final = Prepared(
    select(Delivery.id)
    .join(Webhook, Webhook.id == Delivery.webhook_id)
    .where(_is_claimable(bindparam("moment"), bindparam("boot"), bindparam("seconds")))
    .limit(1)
)
