"""Create, edit, verify, disable and delete webhooks of owners."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from referee.accounts.accounts import lock_present
from referee.bots.bots import OLD_SECRET_LIFETIME
from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.db.leases import revocation_values
from referee.db.paging import Cursor, Page, load_page
from referee.errors import Conflict, NotFound, QuotaExceeded
from referee_extras.notifications import outbox
from referee_extras.notifications.notification_types import PING, SUBSCRIBABLE_TYPES
from referee_extras.notifications.states import DeliveryState, WebhookKind, WebhookState
from referee_extras.notifications.tables import WEBHOOK_PREFIX, Delivery, Webhook

PER_ACCOUNT: Final = 10


def create(
    session: Session, account_id: str, url: str, events: Sequence[str], *, kind: WebhookKind = WebhookKind.SIGNED
) -> Webhook:
    """Create an unverified webhook and a ping that is due. ``kind`` is the format of its messages.

    ``url`` must be as rebuilt by the address guard. Raise ``QuotaExceeded`` if the account has too many webhooks, and
    ``NotFound`` for an unknown account.
    """
    _check_quota(session, account_id)
    webhook = Webhook(
        id=new_id(WEBHOOK_PREFIX),
        account_id=account_id,
        kind=kind,
        url=url,
        events=_sort_event_types(events),
        status=WebhookState.UNVERIFIED,
        secret_generation=1,
        revision=1,
        created_at=current_time(session),
    )
    session.add(webhook)
    session.flush()
    ping(session, webhook.id)
    return webhook


def get_webhook(session: Session, webhook_id: str, *, account_id: str | None = None) -> Webhook:
    """Return the webhook. Raise ``NotFound`` if there is none, or if it does not belong to ``account_id``."""
    webhook = session.get(Webhook, webhook_id)
    if webhook is None or (account_id is not None and webhook.account_id != account_id):
        raise NotFound("webhook", webhook_id)
    return webhook


def list_webhooks(session: Session, account_id: str, *, limit: int = 50, cursor: Cursor | None = None) -> Page[Webhook]:
    query = select(Webhook).where(Webhook.account_id == account_id)
    return load_page(session, query, Webhook.created_at.desc(), Webhook.id.desc(), limit=limit, cursor=cursor)


def edit(
    session: Session,
    webhook_id: str,
    *,
    revision: int,
    url: str | None = None,
    events: Sequence[str] | None = None,
    enabled: bool | None = None,
) -> Webhook:
    """Change the address or the event types of a webhook, or disable or enable it.

    A webhook with a new address, or one that was enabled, is unverified until a ping succeeds. Raise ``NotFound`` if
    there is no such webhook, and ``Conflict`` for an old revision.
    """
    webhook = _lock_webhook(session, webhook_id)
    if webhook.revision != revision:
        raise Conflict(f"The webhook has revision {webhook.revision}, but the change was based on revision {revision}.")
    if events is not None:
        webhook.events = _sort_event_types(events)
    moved = url is not None and url != webhook.url
    if url is not None and moved:
        webhook.url = url
        _revoke_claims(session, webhook)
    if enabled is False and webhook.status != WebhookState.DISABLED:
        disable(session, webhook, "by its owner")
    elif enabled is True and webhook.status == WebhookState.DISABLED:
        _require_ping(session, webhook, None)
    elif moved and webhook.status != WebhookState.DISABLED:
        _require_ping(session, webhook, "the address changed")
    webhook.revision += 1
    session.flush()
    return webhook


def remove(session: Session, webhook_id: str) -> None:
    """Delete a webhook with all of its deliveries. Raise ``NotFound`` if there is no such webhook."""
    webhook = _lock_webhook(session, webhook_id, to_remove=True)
    session.execute(delete(Delivery).where(Delivery.webhook_id == webhook.id))
    session.delete(webhook)
    session.flush()


def rotate_secret(session: Session, webhook_id: str) -> Webhook:
    """Advance to the next secret. For a day, messages are also signed with the previous one.

    Raise ``NotFound`` if there is no such webhook, ``Conflict`` if its messages are not signed.
    """
    webhook = _lock_webhook(session, webhook_id)
    if webhook.kind != WebhookKind.SIGNED:
        raise Conflict(f"The webhook is of the kind {webhook.kind}, whose messages are not signed.")
    webhook.secret_generation += 1
    webhook.previous_secret_until = current_time(session) + OLD_SECRET_LIFETIME
    webhook.revision += 1
    return webhook


def signing_generations(webhook: Webhook, moment: datetime) -> tuple[int, ...]:
    """Return the generations of the secret that sign now: the current one and, for a day, the previous one."""
    both = webhook.previous_secret_until is not None and webhook.previous_secret_until > moment
    return (webhook.secret_generation, *([webhook.secret_generation - 1] if both else []))


def ping(session: Session, webhook_id: str) -> Delivery:
    """Put a ping into the outbox.

    Its success makes an unverified webhook active. The new ping replaces pings that are still due. Raise ``Conflict``
    if the webhook is disabled.
    """
    webhook = _lock_webhook(session, webhook_id)
    if webhook.status == WebhookState.DISABLED:
        raise Conflict("The webhook is disabled. Enable it first.")
    if webhook.status == WebhookState.UNVERIFIED:
        webhook.failing_since = None
    older = [Delivery.webhook_id == webhook.id, Delivery.status == DeliveryState.DUE, Delivery.event == PING]
    _fail(session, older, "another ping was requested")
    sent = outbox.enqueue_delivery(session, webhook, PING, {"webhook": webhook.id})
    session.flush()
    return sent


def disable(session: Session, webhook: Webhook, reason: str) -> None:
    """Disable a webhook. Due deliveries fail; they can be redelivered once the webhook is active again."""
    webhook.status, webhook.status_reason, webhook.failing_since = WebhookState.DISABLED, reason, None
    webhook.revision += 1
    due = [Delivery.webhook_id == webhook.id, Delivery.status == DeliveryState.DUE]
    _fail(session, due, "the webhook was disabled")


def _require_ping(session: Session, webhook: Webhook, reason: str | None) -> None:
    webhook.status, webhook.status_reason, webhook.failing_since = WebhookState.UNVERIFIED, reason, None
    ping(session, webhook.id)


def _revoke_claims(session: Session, webhook: Webhook) -> None:
    """Revoke claims on deliveries to the old address, so that these deliveries are sent to the new one."""
    due = update(Delivery).where(Delivery.webhook_id == webhook.id, Delivery.status == DeliveryState.DUE)
    session.execute(due.values(revocation_values(Delivery)))


def _fail(session: Session, conditions: Sequence[object], last_error: str) -> None:
    failed = update(Delivery).where(*conditions)  # type: ignore[arg-type]  # conditions are typed as what they compare
    session.execute(failed.values(status=DeliveryState.FAILED, last_error=last_error, **revocation_values(Delivery)))


def _lock_webhook(session: Session, webhook_id: str, *, to_remove: bool = False) -> Webhook:
    """Lock and return the webhook.

    Unless ``to_remove`` is set, other transactions can still insert deliveries for it.
    """
    query = select(Webhook).where(Webhook.id == webhook_id).with_for_update(key_share=not to_remove)
    # Reread the row after locking it: another transaction may have changed it.
    webhook = session.scalar(query.execution_options(populate_existing=True))
    if webhook is None:
        raise NotFound("webhook", webhook_id)
    return webhook


def _sort_event_types(events: Sequence[str]) -> list[str]:
    return [event for event in SUBSCRIBABLE_TYPES if event in events]


def _check_quota(session: Session, account_id: str) -> None:
    lock_present(session, account_id)  # so that concurrent requests cannot exceed the quota
    owned = select(func.count()).where(Webhook.account_id == account_id)
    if session.scalars(owned).one() >= PER_ACCOUNT:
        raise QuotaExceeded(f"An account can have at most {PER_ACCOUNT} webhooks. Delete one first.")
