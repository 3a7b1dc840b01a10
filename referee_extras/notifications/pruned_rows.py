"""Offer the rows that the extra ``retention`` deletes: old entries of inboxes, and deliveries that are over."""

from typing import Final

from sqlalchemy import func, literal

from referee_extras.notifications.states import DeliveryState
from referee_extras.notifications.tables import Delivery, InboxEntry
from referee_extras.retention.sources import Source, deletion

ENTRIES: Final = Source(
    InboxEntry.id, InboxEntry.created_at, literal(0), lambda query: query, deletion(InboxEntry, InboxEntry.id)
)
DELIVERIES: Final = Source(
    Delivery.id,
    Delivery.created_at,
    func.length(Delivery.body),
    lambda query: query.where(Delivery.status != DeliveryState.DUE),
    deletion(Delivery, Delivery.id),
)
