"""Messages on their way: claimed by runners when due, tried again when they failed, listed for the owner.

What they say is decided in ``outbox``, who is told in ``webhooks``; sending itself is the runners'.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement, Select, and_, delete, exists, or_, select, tuple_, update
from sqlalchemy.orm import Session

from referee.db.engine import changed, lease_now, now, queue_up
from referee.db.leases import expired
from referee.db.names import printable
from referee.db.paging import Cursor, Page, newest_first
from referee.errors import Conflict, NotFound, StaleEpoch
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
_LOOK: Final = 100  # rows a look
_FORGET: Final = 1_000  # rows a transaction


@dataclass(frozen=True, slots=True)
class Parcel:
    """A claimed delivery, with all that is needed to send it."""

    delivery_id: str
    epoch: int
    webhook_id: str
    url: str
    secret_generations: tuple[int, ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt: ``answer`` is the HTTP status if there was one; without a ``problem`` it is delivered.
    ``ours``: we could not call at all, which is held against nobody."""

    answer: int | None
    problem: str | None = None
    ours: bool = False


def any_due(session: Session) -> bool:
    """Whether there is something to send."""
    boot, seconds = lease_now(session)
    due = select(Delivery.id).join(Webhook, Webhook.id == Delivery.webhook_id)
    return session.scalar(due.where(_free(now(session), boot, seconds)).limit(1)) is not None


def claim_due(session: Session, limit: int) -> list[Parcel]:
    """Up to ``limit`` deliveries that are due, or whose claimer has gone, the oldest first; each is given to one asker
    at a time, and one address gets at most four at once, one while it fails, one account eight. Those that fail never
    get all the room.
    """
    if limit < 1:
        return []
    queue_up(session, "deliveries")  # so that what is under way to an address is counted by one at a time
    boot, seconds = lease_now(session)
    moment = now(session)
    under_way = _under_way(session, boot, seconds)
    full: set[str] = set()
    parcels: list[Parcel] = []
    failing = 0
    while len(parcels) < limit:
        rows = _candidates(session, _free(moment, boot, seconds), full)
        for delivery, webhook in rows:
            target, owner = _target(webhook.url), webhook.account_id
            fails = webhook.failing_since is not None
            crowded = under_way[target] >= (PER_FAILING_TARGET if fails else PER_TARGET)
            if crowded or under_way[owner] >= PER_ACCOUNT or (fails and failing >= limit // 2):
                full.add(webhook.id)
            elif delivery.attempts >= ATTEMPTS:
                _end(delivery, "failed", f"the referee did not get through with {ATTEMPTS} attempts")
            elif len(parcels) < limit:
                under_way.update((target, owner))
                failing += fails
                delivery.lease_boot, delivery.lease_until = boot, seconds + LEASE_S
                parcels.append(_claimed(delivery, webhook, moment))
        session.flush()
        if len(rows) < _LOOK:
            break
    return parcels


def finish(session: Session, delivery_id: str, epoch: int, outcome: Outcome, *, spread: float) -> Delivery:
    """Notes what came of an attempt; ``spread``, from 0 to 1, is how much of ``SPREAD`` the next delay is longer.

    Raises ``StaleEpoch`` when the delivery was claimed anew, recalled or dropped.
    """
    webhook, delivery = _locked(session, delivery_id) or (None, None)
    if webhook is None or delivery is None or (delivery.epoch, delivery.status) != (epoch, "due"):
        raise StaleEpoch(f"claim {epoch} of delivery {delivery_id} is no longer ours")
    moment = now(session)
    delivery.answer = outcome.answer
    if outcome.problem is None:
        _delivered(delivery, webhook, moment)
    elif outcome.ours:
        delivery.attempts -= 1
        _try_again(delivery, moment + OUR_PAUSE, outcome.problem)
    else:
        _failed(session, delivery, webhook, outcome, moment, spread)
    session.flush()
    if webhook.status == "active" and _is_overrun(session, webhook):
        disable(session, webhook, f"{LONGEST_QUEUE:,} messages waited for it: it takes fewer than there are")
        session.flush()
    return delivery


def give_back(session: Session, parcels: Sequence[Parcel]) -> int:
    """Lets others send these at once; such a claim is no attempt. Claims that are no longer ours are passed over."""
    held = tuple_(Delivery.id, Delivery.epoch).in_([(parcel.delivery_id, parcel.epoch) for parcel in parcels])
    freed = update(Delivery).where(held, Delivery.status == "due")
    return changed(session, freed.values(attempts=Delivery.attempts - 1, lease_boot=None, lease_until=None))


def list_deliveries(
    session: Session, webhook_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[Delivery]:
    query = select(Delivery).where(Delivery.webhook_id == webhook_id)
    return newest_first(session, query, Delivery.created_at, Delivery.id, limit=limit, cursor=cursor)


def redeliver(session: Session, delivery_id: str, *, account_id: str) -> Delivery:
    """Makes a delivery that is over due again, with the same id and body and a fresh count of attempts.

    Raises ``NotFound`` for what is not this account's, ``Conflict`` while it is due or its webhook is not active.
    """
    webhook, delivery = _locked(session, delivery_id) or (None, None)
    if webhook is None or delivery is None or webhook.account_id != account_id:
        raise NotFound("delivery", delivery_id)
    if webhook.status != "active":
        raise Conflict(f"the webhook is {webhook.status}; only an active one is told")
    if delivery.status == "due":
        raise Conflict("the delivery is due already")
    delivery.status, delivery.attempts, delivery.due_at = "due", 0, now(session)
    delivery.delivered_at = None
    delivery.epoch += 1
    session.flush()
    return delivery


def any_old(session: Session) -> bool:
    """Whether there are deliveries older than they are kept."""
    return session.scalar(select(_with_old(now(session) - KEPT).exists())) is True


def forget_old(session: Session) -> int:
    """Drops a portion of the deliveries that are older than they are kept; tells how many."""
    before = now(session) - KEPT
    webhook_ids = list(session.scalars(_with_old(before)))
    old = select(Delivery.id).where(Delivery.webhook_id.in_(webhook_ids), Delivery.created_at < before)
    return changed(session, delete(Delivery).where(Delivery.id.in_(old.limit(_FORGET))))


def _locked(session: Session, delivery_id: str) -> tuple[Webhook, Delivery] | None:
    """A delivery with its webhook, fresh; the webhook is locked first, as by those who change it."""
    its = Webhook.id == select(Delivery.webhook_id).where(Delivery.id == delivery_id).scalar_subquery()
    hook = select(Webhook).where(its).with_for_update(key_share=True)
    webhook = session.scalar(hook.execution_options(populate_existing=True))
    sent = select(Delivery).where(Delivery.id == delivery_id).with_for_update(key_share=True)
    delivery = session.scalar(sent.execution_options(populate_existing=True))
    return None if webhook is None or delivery is None else (webhook, delivery)


# -- claiming --


def _free(moment: datetime, boot: str, seconds: float) -> ColumnElement[bool]:
    """Due, held by nobody, and for a webhook that may be told: one that is not proven gets pings alone."""
    told = or_(Webhook.status == "active", and_(Webhook.status == "unverified", Delivery.event == PING))
    return and_(Delivery.status == "due", Delivery.due_at <= moment, expired(Delivery, boot, seconds), told)


def _candidates(session: Session, free: ColumnElement[bool], full: set[str]) -> Sequence[tuple[Delivery, Webhook]]:
    query = select(Delivery, Webhook).join(Webhook, Webhook.id == Delivery.webhook_id)
    query = query.where(free, Delivery.webhook_id.not_in(full)).order_by(Delivery.due_at, Delivery.id).limit(_LOOK)
    rows = session.execute(query.with_for_update(of=Delivery, skip_locked=True))
    return [(delivery, webhook) for delivery, webhook in rows]


def _under_way(session: Session, boot: str, seconds: float) -> Counter[str]:
    """How many are being sent to each address, and to each account."""
    query = select(Webhook.url, Webhook.account_id).join(Delivery, Delivery.webhook_id == Webhook.id)
    held = session.execute(query.where(Delivery.status == "due", ~expired(Delivery, boot, seconds)))
    return Counter(one for url, account_id in held for one in (_target(url), account_id))


def _target(url: str) -> str:
    return urlsplit(url).netloc


def _claimed(delivery: Delivery, webhook: Webhook, moment: datetime) -> Parcel:
    delivery.epoch += 1
    delivery.attempts += 1  # counted now, so that a message that fells whoever sends it is given up some day
    generations = signing_generations(webhook, moment)
    return Parcel(delivery.id, delivery.epoch, webhook.id, webhook.url, generations, delivery.body)


# -- what came of it --


def _delivered(delivery: Delivery, webhook: Webhook, moment: datetime) -> None:
    _end(delivery, "delivered", None)
    delivery.delivered_at = moment
    webhook.failing_since = None
    if webhook.status == "unverified" and delivery.event == PING:
        webhook.status, webhook.status_reason = "active", None
        webhook.revision += 1


def _failed(
    session: Session, delivery: Delivery, webhook: Webhook, outcome: Outcome, moment: datetime, spread: float
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
    delivery.due_at, delivery.problem = due_at, printable(problem)
    delivery.lease_boot = delivery.lease_until = None


def _end(delivery: Delivery, status: str, problem: str | None) -> None:
    delivery.status, delivery.problem = status, problem
    delivery.lease_boot = delivery.lease_until = None


def _with_old(before: datetime) -> Select[str]:
    """Ids of webhooks with old deliveries: found by the index, a look for each webhook."""
    old = exists().where(Delivery.webhook_id == Webhook.id, Delivery.created_at < before)
    return select(Webhook.id).where(old)
