"""Messages on their way: claimed by runners when due, tried again when they failed, listed for the owner.

What they say is decided in ``outbox``, who is told in ``webhooks``; sending itself is the runners'.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement, Select, and_, delete, exists, or_, select
from sqlalchemy.orm import Session

from referee.db.engine import count_changed_rows, current_time, lease_now, queue_up
from referee.db.leases import Leases
from referee.db.names import printable
from referee.db.paging import Cursor, Page, newest_first
from referee.errors import Conflict, NotFound
from referee.webhooks.outbox import PING
from referee.webhooks.tables import Delivery, Webhook
from referee.webhooks.webhooks import disable, signing_generations

DELAYS_S: Final = (5, 30, 120, 600, 3_600, 10_800, 21_600, 86_400)  # before the second attempt, the third, …
ATTEMPTS: Final = len(DELAYS_S) + 1
PROVING_ATTEMPTS: Final = 4  # an address that is not proven is not called for days
SPREAD: Final = 0.2  # by up to this share a delay is longer, so that what failed together is not tried together
OUR_PAUSE: Final = timedelta(seconds=30)  # when it was we who could not call
FAILING_LASTS: Final = timedelta(days=1)  # then the webhook is disabled
KEPT: Final = timedelta(days=30)
LONGEST_QUEUE: Final = 10_000  # messages that wait for one webhook; then it is disabled
PER_TARGET: Final = 4  # at once to one address
PER_FAILING_TARGET: Final = 1
PER_ACCOUNT: Final = 8  # at once to all addresses of one owner, who may have many names for a receiver that stalls
LEASE_S: Final = 30.0  # longer than a call and the wait to write down what came of it
GONE: Final = 410  # "the endpoint wants no more", says the Standard Webhooks specification
LEASES: Final = Leases(Delivery, claimed="due", lease_s=LEASE_S)
_LOOK: Final = 100  # rows a look
_FORGET: Final = 1_000  # rows a transaction


@dataclass(frozen=True, slots=True)
class DeliveryJob:
    """A claimed delivery, with all that is needed to send it."""

    delivery_id: str
    epoch: int
    webhook_id: str
    url: str
    secret_generations: tuple[int, ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """What came of an attempt: ``answer`` is the HTTP status if there was one; without a ``problem`` it is delivered.
    ``ours``: we could not call at all, which is held against nobody."""

    answer: int | None
    problem: str | None = None
    ours: bool = False


def any_due(session: Session) -> bool:
    """Whether there is something to send."""
    boot, seconds = lease_now(session)
    due = select(Delivery.id).join(Webhook, Webhook.id == Delivery.webhook_id)
    return session.scalar(due.where(_free(current_time(session), boot, seconds)).limit(1)) is not None


def claim_due(session: Session, limit: int) -> list[DeliveryJob]:
    """Up to ``limit`` deliveries that are due, or whose claimer has gone, the oldest first; each is given to one asker
    at a time, and one address gets at most four at once, one while it fails, one account eight. Those that fail never
    get all the room.
    """
    if limit < 1:
        return []
    queue_up(session, "deliveries")  # so that what is under way to an address is counted by one at a time
    boot, seconds = lease_now(session)
    moment = current_time(session)
    under_way = _under_way(session, boot, seconds)
    full: set[str] = set()
    parcels: list[DeliveryJob] = []
    failing = 0
    while len(parcels) < limit:
        rows = _candidates(session, _free(moment, boot, seconds), full)
        chosen: list[tuple[Delivery, Webhook]] = []
        for delivery, webhook in rows:
            target, owner = _target(webhook.url), webhook.account_id
            fails = webhook.failing_since is not None
            crowded = under_way[target] >= (PER_FAILING_TARGET if fails else PER_TARGET)
            if crowded or under_way[owner] >= PER_ACCOUNT or (fails and failing >= limit // 2):
                full.add(webhook.id)
            elif delivery.attempts >= ATTEMPTS:
                _end(delivery, "failed", f"the referee did not get through with {ATTEMPTS} attempts")
            elif len(parcels) + len(chosen) < limit:
                under_way.update((target, owner))
                failing += fails
                chosen.append((delivery, webhook))
        session.flush()
        parcels += _claim_delivery(session, chosen, moment, boot, seconds)
        if len(rows) < _LOOK:
            break
    return parcels


def finish(session: Session, delivery_id: str, epoch: int, outcome: DeliveryOutcome, *, spread: float) -> Delivery:
    """Notes what came of an attempt; ``spread``, from 0 to 1, is how much of ``SPREAD`` the next delay is longer.

    Raises ``StaleEpoch`` when the delivery was claimed anew, recalled or dropped.
    """
    webhook = _lock_webhook_of(session, delivery_id)
    delivery = LEASES.lock(session, delivery_id, epoch, key_share=True)
    assert webhook is not None  # it is removed with its deliveries
    moment = current_time(session)
    delivery.response_status = outcome.answer
    if outcome.problem is None:
        _record_success(delivery, webhook, moment)
    elif outcome.ours:
        delivery.attempts -= 1
        _try_again(delivery, moment + OUR_PAUSE, outcome.problem)
    else:
        _record_failure(session, delivery, webhook, outcome, moment, spread)
    session.flush()
    if webhook.status == "active" and _is_overrun(session, webhook):
        disable(session, webhook, f"{LONGEST_QUEUE:,} messages waited for it: it takes fewer than there are")
        session.flush()
    return delivery


def give_back(session: Session, parcels: Sequence[DeliveryJob]) -> int:
    """Lets others send these at once; such a claim is no attempt. Claims that are no longer ours are passed over."""
    claims = [(parcel.delivery_id, parcel.epoch) for parcel in parcels]
    return LEASES.release(session, claims, attempts=Delivery.attempts - 1)


def list_deliveries(
    session: Session, webhook_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[Delivery]:
    query = select(Delivery).where(Delivery.webhook_id == webhook_id)
    return newest_first(session, query, Delivery.created_at, Delivery.id, limit=limit, cursor=cursor)


def redeliver(session: Session, delivery_id: str, *, account_id: str) -> Delivery:
    """Makes a delivery that is over due again, with the same id and body and a fresh count of attempts.

    Raises ``NotFound`` for what is not this account's, ``Conflict`` while it is due or its webhook is not active.
    """
    webhook = _lock_webhook_of(session, delivery_id)
    delivery = session.get(Delivery, delivery_id, with_for_update={"key_share": True}, populate_existing=True)
    if webhook is None or delivery is None or webhook.account_id != account_id:
        raise NotFound("delivery", delivery_id)
    if webhook.status != "active":
        raise Conflict(f"the webhook is {webhook.status}; only an active one is told")
    if delivery.status == "due":
        raise Conflict("the delivery is due already")
    delivery.status, delivery.attempts, delivery.due_at = "due", 0, current_time(session)
    delivery.delivered_at = None
    delivery.revoke_claim()
    session.flush()
    return delivery


def any_old(session: Session) -> bool:
    """Whether there are deliveries older than they are kept."""
    return session.scalar(select(_with_old(current_time(session) - KEPT).exists())) is True


def forget_old(session: Session) -> int:
    """Drops a portion of the deliveries that are older than they are kept; tells how many."""
    before = current_time(session) - KEPT
    webhook_ids = list(session.scalars(_with_old(before)))
    old = select(Delivery.id).where(Delivery.webhook_id.in_(webhook_ids), Delivery.created_at < before)
    return count_changed_rows(session, delete(Delivery).where(Delivery.id.in_(old.limit(_FORGET))))


def _lock_webhook_of(session: Session, delivery_id: str) -> Webhook | None:
    """Lock the webhook of a delivery, as those who change it do before they lock its deliveries; return it fresh."""
    its = Webhook.id == select(Delivery.webhook_id).where(Delivery.id == delivery_id).scalar_subquery()
    hook = select(Webhook).where(its).with_for_update(key_share=True)
    return session.scalar(hook.execution_options(populate_existing=True))


# -- claiming --


def _free(moment: datetime, boot: str, seconds: float) -> ColumnElement[bool]:
    """Due, held by nobody, and for a webhook that may be told: one that is not proven gets pings alone."""
    told = or_(Webhook.status == "active", and_(Webhook.status == "unverified", Delivery.event == PING))
    return and_(Delivery.due_at <= moment, LEASES.claimable(boot, seconds), told)


def _candidates(session: Session, free: ColumnElement[bool], full: set[str]) -> Sequence[tuple[Delivery, Webhook]]:
    query = select(Delivery, Webhook).join(Webhook, Webhook.id == Delivery.webhook_id)
    query = query.where(free, Delivery.webhook_id.not_in(full)).order_by(Delivery.due_at, Delivery.id).limit(_LOOK)
    rows = session.execute(query.with_for_update(of=Delivery, skip_locked=True))
    return [(delivery, webhook) for delivery, webhook in rows]


def _under_way(session: Session, boot: str, seconds: float) -> Counter[str]:
    """How many are being sent to each address, and to each account."""
    query = select(Webhook.url, Webhook.account_id).join(Delivery, Delivery.webhook_id == Webhook.id)
    leased = session.execute(query.where(LEASES.leased(boot, seconds)))
    return Counter(one for url, account_id in leased for one in (_target(url), account_id))


def _target(url: str) -> str:
    return urlsplit(url).netloc


def _claim_delivery(
    session: Session, chosen: Sequence[tuple[Delivery, Webhook]], moment: datetime, boot: str, seconds: float
) -> list[DeliveryJob]:
    # Counted now, so that a message that fells whoever sends it is given up some day.
    attempts = {"attempts": Delivery.attempts + 1}
    epochs = LEASES.claim_keys(session, [delivery.id for delivery, _ in chosen], boot, seconds, **attempts)
    return [
        DeliveryJob(one.id, epochs[one.id], hook.id, hook.url, signing_generations(hook, moment), one.body)
        for one, hook in chosen
    ]


# -- what came of it --


def _record_success(delivery: Delivery, webhook: Webhook, moment: datetime) -> None:
    _end(delivery, "delivered", None)
    delivery.delivered_at = moment
    webhook.failing_since = None
    if webhook.status == "unverified" and delivery.event == PING:
        webhook.status, webhook.status_reason = "active", None
        webhook.revision += 1


def _record_failure(
    session: Session, delivery: Delivery, webhook: Webhook, outcome: DeliveryOutcome, moment: datetime, spread: float
) -> None:
    problem = printable(outcome.problem or "")[:500]
    proving = webhook.status == "unverified"
    webhook.failing_since = webhook.failing_since or moment
    if proving:
        webhook.status_reason = f"the ping failed: {problem}"
    if delivery.attempts < (PROVING_ATTEMPTS if proving else ATTEMPTS):
        delay_s = DELAYS_S[delivery.attempts - 1] * (1 + SPREAD * spread)
        _try_again(delivery, moment + timedelta(seconds=delay_s), problem)
    else:
        _end(delivery, "failed", problem)
    if outcome.answer == GONE:
        _end(delivery, "failed", problem)
        disable(session, webhook, "it answered 410 Gone")
    elif moment - webhook.failing_since >= FAILING_LASTS:
        _end(delivery, "failed", problem)
        disable(session, webhook, f"no delivery came through in a day; the last problem: {problem}")


def _is_overrun(session: Session, webhook: Webhook) -> bool:
    """Whether the queue is too long: one that has so many behind it was not tried yet."""
    messages = select(Delivery.id).where(Delivery.webhook_id == webhook.id)
    older = messages.order_by(Delivery.created_at.desc(), Delivery.id.desc()).offset(LONGEST_QUEUE - 1).limit(1)
    waits = select(Delivery.id).where(
        Delivery.id == older.scalar_subquery(), Delivery.status == "due", Delivery.attempts == 0
    )
    return session.scalar(waits) is not None


def _try_again(delivery: Delivery, due_at: datetime, problem: str) -> None:
    delivery.due_at, delivery.last_error = due_at, printable(problem)
    delivery.end_lease()


def _end(delivery: Delivery, status: str, problem: str | None) -> None:
    delivery.status, delivery.last_error = status, problem
    delivery.end_lease()


def _with_old(before: datetime) -> Select[str]:
    """Ids of webhooks with old deliveries: found by the index, a look for each webhook."""
    old = exists().where(Delivery.webhook_id == Webhook.id, Delivery.created_at < before)
    return select(Webhook.id).where(old)
