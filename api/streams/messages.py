"""Server-sent events as bytes."""

from datetime import datetime

from api.fields import UtcDateTime


def message(name: str, id: str | int | None, data: bytes) -> bytes:
    """An event; one without an id leaves that of the last as it was."""
    numbered = b"" if id is None else b"id: %s\n" % str(id).encode()
    return b"event: %s\n%sdata: %s\n\n" % (name.encode(), numbered, data)


def instant(moment: datetime) -> str:
    """As the API writes dates everywhere."""
    return str(UtcDateTime()._serialize(moment, None, None))
