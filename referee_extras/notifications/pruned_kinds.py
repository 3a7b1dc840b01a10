"""Offer what the extra ``retention`` deletes, and for how long it is kept by default."""

from typing import Final

from referee_extras.retention.limits import DAYS_30, DAYS_90
from referee_extras.retention.rules import Offered

OFFERED: Final = {
    "notifications": Offered("referee_extras.notifications.pruned_rows:ENTRIES", DAYS_90),
    "deliveries": Offered("referee_extras.notifications.pruned_rows:DELIVERIES", DAYS_30, min_days=2),
}
