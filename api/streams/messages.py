"""Encode messages as server-sent events (HTML standard, section 9.2)."""

from datetime import datetime

from api.fields import UtcDateTime


def encode_message(name: str, id: str | int | None, data: bytes) -> bytes:
    """Return a stream message. Without an ``id``, the client keeps the id of the previous message."""
    numbered = b"" if id is None else b"id: %s\n" % str(id).encode()
    return b"event: %s\n%sdata: %s\n\n" % (name.encode(), numbered, data)


def format_time(moment: datetime) -> str:
    """Return ``moment`` as the API writes times: RFC 3339 in UTC."""
    return str(UtcDateTime()._serialize(moment, None, None))
