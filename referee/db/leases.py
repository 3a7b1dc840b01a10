"""Leases: a claim holds until a moment on a clock that never jumps, and never beyond a restart of the machine."""

from typing import Any, Final

from sqlalchemy import ColumnElement, or_

LEASE_S: Final = 15.0  # longer than the longest decision and the longest wait to write together


def expired(table: Any, boot: Any, seconds: Any) -> ColumnElement[bool]:
    """Whether nobody holds the row any more; the moment as ``db.lease_now`` gives it, or parameters for it."""
    return or_(table.lease_until.is_(None), table.lease_until <= seconds, table.lease_boot != boot)
