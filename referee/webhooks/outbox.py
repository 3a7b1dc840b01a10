"""Write messages to owners into the outbox, in the same transaction as the change that they report."""

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.db.prepared import Prepared
from referee.match.canonical import Json, dumps
from referee.timestamps import format_time
from referee.webhooks import inbox
from referee.webhooks.states import DeliveryState, NotificationType, WebhookState
from referee.webhooks.tables import Delivery, Webhook

PING: Final = NotificationType.PING.value
NOTIFICATION_TYPES: Final = tuple(event.value for event in NotificationType)
MAX_BODY_BYTES: Final = 16 * 1024


def emit(
    session: Session,
    event: str,
    account_ids: Iterable[str],
    payload: Json,
    *,
    readers: Iterable[str] | None = None,
) -> int:
    """Put a message into the outbox for each active webhook of these accounts that subscribes to ``event``, and an
    entry into the inbox of these accounts or, if they are given, of the ``readers``.

    Return the number of messages. They are sent only if the caller's transaction commits. ``payload`` becomes the
    member ``data`` of the body, in the format of the Standard Webhooks specification. Raise ``ValueError`` if
    ``event`` is not one of ``NOTIFICATION_TYPES`` or the body exceeds 16 KiB.
    """
    recipients = set(account_ids)
    inbox.add_entries(session, event, recipients if readers is None else readers, payload)
    return emit_to(session, event, list_subscribed(session, event, recipients), payload)


def list_subscribed(session: Session, event: str, account_ids: Iterable[str]) -> list[str]:
    """Return the ids of the active webhooks of these accounts that subscribe to ``event``, and keep them.

    Raise ``ValueError`` if ``event`` is not one of ``NOTIFICATION_TYPES``.
    """
    if event not in NOTIFICATION_TYPES:
        raise ValueError(f"{event!r} is not one of {', '.join(NOTIFICATION_TYPES)}")
    active = _ACTIVE.rows_of_each(session, [{"account": account_id} for account_id in sorted(set(account_ids))])
    return [webhook_id for rows in active for webhook_id, events in rows if event in events]


def emit_to(session: Session, event: str, subscribed: Sequence[str], payload: Json) -> int:
    """Put a message into the outbox for each of these webhooks, as ``emit`` does. Return their number."""
    if subscribed:
        message = _message(session, event, payload)
        rows = [{**message, "id": new_id("delivery"), "webhook_id": webhook_id} for webhook_id in subscribed]
        session.execute(insert(Delivery), rows)
    return len(subscribed)


def enqueue_delivery(session: Session, webhook: Webhook, event: str, payload: Json) -> Delivery:
    """Put a message for one webhook into the outbox, due immediately, even if it does not subscribe to ``event``."""
    delivery = Delivery(id=new_id("delivery"), webhook_id=webhook.id, **_message(session, event, payload))
    session.add(delivery)
    return delivery


def _message(session: Session, event: str, payload: Json) -> Json:
    """Return the column values of a delivery except its id and webhook. Raise ``ValueError`` for a body over 16 KiB."""
    moment = current_time(session)
    body = dumps({"type": event, "timestamp": format_time(moment), "data": payload})
    if len(body) > MAX_BODY_BYTES:
        raise ValueError(f"a body has at most {MAX_BODY_BYTES} bytes, this {event} has {len(body)}")
    return {
        "event": event,
        "body": body,
        "status": DeliveryState.DUE,
        "attempts": 0,
        "due_at": moment,
        "epoch": 0,
        "created_at": moment,
    }


_WEBHOOKS: Final = Webhook.__table__
_ACTIVE: Final = Prepared(
    select(_WEBHOOKS.c.id, _WEBHOOKS.c.events)
    .where(_WEBHOOKS.c.account_id == bindparam("account"), _WEBHOOKS.c.status == WebhookState.ACTIVE)
    .order_by(_WEBHOOKS.c.id)
    .with_for_update(read=True, key_share=True)  # so that no webhook is deleted before its message is inserted
)
