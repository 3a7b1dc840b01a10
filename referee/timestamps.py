"""Write times as the API, messages and files do."""

from datetime import UTC, datetime


def format_time(moment: datetime) -> str:
    """Return an aware time in RFC 3339, in UTC with milliseconds, such as ``2026-05-01T16:00:00.000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
