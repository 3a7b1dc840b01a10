"""Messages to owners, written in the transaction of what they tell of. Sending them is for ``deliveries``."""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.canonical import Json, dumps
from referee.store.db import now
from referee.store.ids import new_id
from referee.store.schema import Delivery, Webhook

PING: Final = "ping"
EVENTS: Final = ("match.finished", "bot.unhealthy", "tournament.started", "tournament.finished", PING)
LARGEST_BODY_BYTES: Final = 16 * 1024


def emit(session: Session, event: str, account_ids: Iterable[str], payload: Json) -> int:
    """Puts a message into the outbox for every active webhook of these accounts that wants ``event``; tells how many.

    It is sent after the caller's transaction is committed, and only then. ``payload`` becomes the member ``data`` of
    the body, whose form is that of the Standard Webhooks specification. Raises ``ValueError`` for an event that is
    not one of ``EVENTS`` and for a body of more than 16 KiB.
    """
    if event not in EVENTS:
        raise ValueError(f"{event!r} is not one of {', '.join(EVENTS)}")
    asked = select(Webhook).where(Webhook.account_id.in_(set(account_ids)), Webhook.status == "active")
    told = [webhook for webhook in session.scalars(asked.order_by(Webhook.id)) if event in webhook.events]
    for webhook in told:
        put(session, webhook, event, payload)
    return len(told)


def put(session: Session, webhook: Webhook, event: str, payload: Json) -> Delivery:
    """One message to one webhook, due at once, whether or not it asked for such."""
    moment = now(session)
    timestamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = dumps({"type": event, "timestamp": timestamp, "data": payload})
    if len(body) > LARGEST_BODY_BYTES:
        raise ValueError(f"a body has at most {LARGEST_BODY_BYTES} bytes, this {event} has {len(body)}")
    delivery = Delivery(
        id=new_id("delivery"),
        webhook_id=webhook.id,
        event=event,
        body=body,
        status="due",
        attempts=0,
        due_at=moment,
        epoch=0,
        created_at=moment,
    )
    session.add(delivery)
    return delivery
