"""Define the tables of webhooks, their deliveries, inboxes, and which results were reported."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from referee.accounts.tables import Account
from referee.db.base import Base, Id, Json, ShortString, StoredEnum, new_metadata, one_of
from referee.db.leases import Leased
from referee_extras.notifications.masked_urls import mask_url
from referee_extras.notifications.states import DeliveryState, WebhookKind, WebhookState

WEBHOOK_PREFIX: Final = "whk"  # of ids
DELIVERY_PREFIX: Final = "dlv"
ENTRY_PREFIX: Final = "inb"


class NotificationsTable(Base):
    """Collect the tables of this extra, which has a schema of its own."""

    __abstract__ = True
    metadata = new_metadata()


class Webhook(NotificationsTable):
    """Store an address that receives messages about the bots and tournaments of its owner."""

    __tablename__ = "webhooks"
    __table_args__ = (one_of("status", WebhookState),)

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey(Account.id), index=True)
    kind: Mapped[WebhookKind] = mapped_column(StoredEnum(WebhookKind), default=WebhookKind.SIGNED)
    url: Mapped[str] = mapped_column(String(2048))
    events: Mapped[list[Any]]  # subscribed event types
    status: Mapped[WebhookState] = mapped_column(StoredEnum(WebhookState))
    status_reason: Mapped[str | None] = mapped_column(Text)
    secret_generation: Mapped[int]
    previous_secret_until: Mapped[datetime | None]
    failing_since: Mapped[datetime | None]
    revision: Mapped[int]
    created_at: Mapped[datetime]

    @property
    def masked_url(self) -> str:
        return mask_url(self.kind, self.url)


class InboxEntry(NotificationsTable):
    """Store a notification in the inbox of an account. ``payload`` is that of webhooks."""

    __tablename__ = "inbox_entries"
    __table_args__ = (Index(None, "account_id", "created_at", "id"),)

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey(Account.id))
    event: Mapped[str] = mapped_column(ShortString)
    payload: Mapped[Json]
    created_at: Mapped[datetime] = mapped_column(index=True)
    read_at: Mapped[datetime | None]


class Delivery(Leased, NotificationsTable):
    """Store a message to a webhook and the state of its delivery."""

    __tablename__ = "deliveries"
    __table_args__ = (
        one_of("status", DeliveryState),
        Index(None, "status", "due_at"),
        Index(None, "webhook_id", "created_at", "id"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    webhook_id: Mapped[str] = mapped_column(ForeignKey("webhooks.id"))
    event: Mapped[str] = mapped_column(ShortString)
    body: Mapped[bytes]
    status: Mapped[DeliveryState] = mapped_column(StoredEnum(DeliveryState))
    attempts: Mapped[int]
    due_at: Mapped[datetime]
    response_status: Mapped[int | None]  # HTTP status of the last response
    last_error: Mapped[str | None] = mapped_column(Text)  # why the last attempt failed
    created_at: Mapped[datetime]
    delivered_at: Mapped[datetime | None]

    @property
    def next_attempt_at(self) -> datetime | None:
        """Return the time of the next attempt, or None if the message was delivered or has failed."""
        return self.due_at if self.status == DeliveryState.DUE else None


class ReportedResults(NotificationsTable):
    """Store in its only row the number of the last result whose owners were notified."""

    __tablename__ = "reported_results"

    id: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger)
