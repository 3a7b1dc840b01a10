"""Classify errors of the database drivers."""

import sqlite3
from typing import Any, Final

from sqlalchemy.exc import DBAPIError, OperationalError

DRIVERS: Final = ("sqlite3", "psycopg")


def raise_as_sqlalchemy(error: Exception, sql: str, values: Any = None) -> None:
    """Raise SQLAlchemy's exception for an error of a driver. Do nothing if it is another error."""
    if type(error).__module__.split(".")[0] in DRIVERS:
        raise DBAPIError.instance(sql, values, error, Exception) from error


def is_damage(error: BaseException) -> bool:
    """Return whether the error shows that the file or an index of the database cannot be read."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.DatabaseError):
        return "malformed" in str(cause) or "not a database" in str(cause)
    return str(getattr(cause, "sqlstate", "")) in {"XX001", "XX002"}


def is_outage(error: DBAPIError) -> bool:
    """Return whether the error is transient: a lock, a full disk, a lost connection or a deadlock."""
    if error.connection_invalidated:
        return True
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        # SQLAlchemy's class, because drivers raise subclasses: psycopg has one for a connection that takes too long.
        return isinstance(error, OperationalError) and "no such" not in str(error.orig)
    return str(state)[:2] in {"08", "40", "53", "55", "57", "58"}
