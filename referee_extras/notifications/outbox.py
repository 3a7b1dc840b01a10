"""Make notifications in the transaction of what they report: entries of inboxes, and messages to webhooks."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.db.lookup import divide_ids
from referee.events import AccountEvent, GuestsInvited
from referee.match.canonical import Json, dumps
from referee.timestamps import format_time
from referee_extras.notifications import inbox
from referee_extras.notifications.notification_types import TYPES, find_type, make_payload
from referee_extras.notifications.states import DeliveryState, WebhookState
from referee_extras.notifications.tables import DELIVERY_PREFIX, Delivery, Webhook

Report = tuple[Collection[str], Json]  # ids of accounts, and the payload of their message

MAX_BODY_BYTES: Final = 16 * 1024
MAX_INVITATIONS_PER_DAY: Final = 20  # to an account as a guest, so that nobody can fill its inbox with them
_DAY: Final = timedelta(days=1)


def report_event(session: Session, event: AccountEvent) -> None:
    """Notify the accounts that an event concerns. Leave out those that were invited as guests too often."""
    if (type := find_type(event)) is not None:
        accounts = _choose_guests(session, type, event) if isinstance(event, GuestsInvited) else event.accounts
        emit(session, type, accounts, make_payload(event))


def emit(session: Session, type: str, account_ids: Collection[str], payload: Json) -> int:
    """Put a message for each of these accounts into its inbox, and into the outbox for its webhooks.

    Return the number of messages in the outbox. ``payload`` becomes the member ``data`` of the body, in the format of
    the Standard Webhooks specification. Raise ``ValueError`` if the body exceeds 16 KiB.
    """
    if TYPES[type].is_kept:
        inbox.add_entries(session, type, [(account_ids, payload)])
    return send(session, type, [(account_ids, payload)])


def send(session: Session, type: str, reports: Sequence[Report]) -> int:
    """Put each message into the outbox for the active webhooks of its accounts that subscribe to its type.

    Return their number. Raise ``ValueError`` if a body exceeds 16 KiB.
    """
    subscribed = list_subscribed(session, type, {account for accounts, _ in reports for account in accounts})
    rows = []
    for account_ids, payload in reports:
        hooks = sorted(hook for account_id in set(account_ids) for hook in subscribed.get(account_id, ()))
        message = _message(session, type, payload) if hooks else {}
        rows += [{**message, "id": new_id(DELIVERY_PREFIX), "webhook_id": hook} for hook in hooks]
    if rows:
        session.execute(insert(Delivery), rows)
    return len(rows)


def list_subscribed(session: Session, type: str, account_ids: Collection[str]) -> dict[str, list[str]]:
    """Return the ids of the active webhooks that subscribe to this type, keyed by account, and keep them."""
    subscribed: defaultdict[str, list[str]] = defaultdict(list)
    for some in divide_ids(sorted(account_ids)):
        active = select(Webhook.id, Webhook.account_id, Webhook.events)
        active = active.where(Webhook.account_id.in_(some), Webhook.status == WebhookState.ACTIVE).order_by(Webhook.id)
        # Locked, so that no webhook is deleted before its message is inserted.
        for webhook_id, account_id, types in session.execute(active.with_for_update(read=True, key_share=True)):
            if type in types:
                subscribed[account_id].append(webhook_id)
    return subscribed


def enqueue_delivery(session: Session, webhook: Webhook, type: str, payload: Json) -> Delivery:
    """Put a message for one webhook into the outbox, due immediately, even if it does not subscribe to this type."""
    delivery = Delivery(id=new_id(DELIVERY_PREFIX), webhook_id=webhook.id, **_message(session, type, payload))
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


def _choose_guests(session: Session, type: str, event: GuestsInvited) -> list[str]:
    """Return the accounts to notify that they are guests of a tournament.

    Leave out those that were notified of this tournament in the last day, or of ``MAX_INVITATIONS_PER_DAY``.
    """
    recent = inbox.list_recent(session, type, event.accounts, _DAY)
    counts = Counter(account_id for account_id, _ in recent)
    again = {account_id for account_id, payload in recent if payload["tournament"] == event.tournament}
    return [id for id in event.accounts if id not in again and counts[id] < MAX_INVITATIONS_PER_DAY]
