"""Offer what the extra ``retention`` deletes, and for how long it is kept by default."""

from typing import Final

from referee_extras.retention.rules import Keep, PrunedKind

OFFERED: Final = {
    "notifications": PrunedKind("referee_extras.notifications.pruned_rows:ENTRIES", Keep(days=90)),
    "deliveries": PrunedKind("referee_extras.notifications.pruned_rows:DELIVERIES", Keep(days=30), min_days=2),
}
