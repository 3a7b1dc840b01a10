"""Messages to owners, written in the transaction of what they tell of. Sending them is for ``deliveries``."""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.match.canonical import Json, dumps
from referee.webhooks.tables import Delivery, Webhook

PING: Final = "ping"
EVENTS: Final = (
    *("match.finished", "bot.unhealthy", "tournament.started", "tournament.held_up", "tournament.finished"),
    PING,
)
LARGEST_BODY_BYTES: Final = 16 * 1024


def emit(session: Session, event: str, account_ids: Iterable[str], payload: Json) -> int:
    """Puts a message into the outbox for every active webhook of these accounts that wants ``event``; tells how many.

    It is sent after the caller's transaction is committed, and only then. ``payload`` becomes the member ``data`` of
    the body, whose form is that of the Standard Webhooks specification. Raises ``ValueError`` for an event that is
    not one of ``EVENTS`` and for a body of more than 16 KiB.
    """
    if event not in EVENTS:
        raise ValueError(f"{event!r} is not one of {', '.join(EVENTS)}")
    told = session.connection().execute(_ACTIVE, {"accounts": list(set(account_ids))}).all()
    wanted = [webhook_id for webhook_id, events in told if event in events]
    if wanted:
        message = _message(session, event, payload)
        rows = [{**message, "id": new_id("delivery"), "webhook_id": webhook_id} for webhook_id in wanted]
        session.execute(insert(Delivery), rows)
    return len(wanted)


def enqueue_delivery(session: Session, webhook: Webhook, event: str, payload: Json) -> Delivery:
    """One message to one webhook, due at once, whether or not it asked for such."""
    delivery = Delivery(id=new_id("delivery"), webhook_id=webhook.id, **_message(session, event, payload))
    session.add(delivery)
    return delivery


def _message(session: Session, event: str, payload: Json) -> Json:
    """All of a delivery but whom it is for."""
    moment = current_time(session)
    timestamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = dumps({"type": event, "timestamp": timestamp, "data": payload})
    if len(body) > LARGEST_BODY_BYTES:
        raise ValueError(f"a body has at most {LARGEST_BODY_BYTES} bytes, this {event} has {len(body)}")
    return {
        "event": event,
        "body": body,
        "status": "due",
        "attempts": 0,
        "due_at": moment,
        "epoch": 0,
        "created_at": moment,
    }


# Built once, past the session's bookkeeping: it is asked at the end of every match, mostly in vain.
_WEBHOOKS: Final = Webhook.__table__
_ACTIVE: Final = (
    select(_WEBHOOKS.c.id, _WEBHOOKS.c.events)
    .where(_WEBHOOKS.c.account_id.in_(bindparam("accounts", expanding=True)), _WEBHOOKS.c.status == "active")
    .order_by(_WEBHOOKS.c.id)
    .with_for_update(read=True, key_share=True)  # so that none is removed between this look and the message to it
)
