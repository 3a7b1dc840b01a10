"""Write times as the API, messages and files do, and read months."""

import re
from datetime import UTC, date, datetime
from typing import Final

from referee.errors import BadOption

_FIRST_MONTH: Final = date(2000, 1, 1)
_MONTH: Final = re.compile(r"([0-9]{4})-([0-9]{2})")


def format_time(moment: datetime) -> str:
    """Return an aware time in RFC 3339, in UTC with milliseconds, such as ``2026-05-01T16:00:00.000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_month(text: str) -> date:
    """Return the first day of a month such as ``2026-11``. Raise ``BadOption`` for any other text."""
    found = _MONTH.fullmatch(text)
    try:
        month = date(int(found[1]), int(found[2]), 1) if found else None
    except ValueError:
        month = None
    if month is None or month < _FIRST_MONTH:
        raise BadOption("month", "must be a month such as 2026-11")
    return month


def format_month(month: date) -> str:
    """Return a month as in addresses: ``2026-11``."""
    return f"{month:%Y-%m}"
