"""Let a request with an idempotency key take effect once, by storing its response in the same transaction."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import String, delete, select, update
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from referee.db.base import Base
from referee.db.engine import count_changed_rows, current_time, get_database
from referee.errors import Conflict

RETENTION = timedelta(hours=24)


class Idempotency(Base):
    """Store the response to a request that has an idempotency key."""

    __tablename__ = "idempotency"

    account_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    body_hash: Mapped[str] = mapped_column(String(64))
    status: Mapped[int | None]
    body: Mapped[bytes | None]
    created_at: Mapped[datetime] = mapped_column(index=True)


class IdempotencyMismatch(Conflict):
    """Report that the key was used before with a different request."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """Hold the response to the first request with a key."""

    status: int
    body: bytes


def begin(session: Session, account_id: str, key: str, body_hash: str) -> StoredResponse | None:
    """Return the stored response, or None for a new request, in which case call ``finish`` in the same transaction.

    Of two concurrent requests with the same key, the second waits here until the first is committed. Raise
    ``IdempotencyMismatch`` if the key was used with a different request, and ``Conflict`` if its response is missing.
    """
    moment = current_time(session)
    stale = Idempotency.created_at < moment - RETENTION
    session.execute(delete(Idempotency).where(Idempotency.account_id == account_id, Idempotency.key == key, stale))
    row = {"account_id": account_id, "key": key, "body_hash": body_hash, "created_at": moment}
    if session.scalar(insert_once(session, Idempotency, row).returning(Idempotency.key)) is not None:
        return None
    # Read again: this transaction may have read the table before the row was committed.
    known = session.get_one(Idempotency, (account_id, key), populate_existing=True)
    if known.body_hash != body_hash:
        raise IdempotencyMismatch("This idempotency key was used with another request. Choose a new key.")
    if known.status is None or known.body is None:
        raise Conflict("The first request with this idempotency key is still in progress. Repeat this one later.")
    return StoredResponse(known.status, known.body)


def finish(session: Session, account_id: str, key: str, status: int, body: bytes) -> None:
    """Store the response, which repetitions of the request will receive."""
    is_this_request = (Idempotency.account_id == account_id, Idempotency.key == key)
    session.execute(update(Idempotency).where(*is_this_request).values(status=status, body=body))


def has_expired(session: Session) -> bool:
    """Return whether ``delete_expired`` would delete anything."""
    old = select(Idempotency.key).where(Idempotency.created_at < current_time(session) - RETENTION).limit(1)
    return session.scalar(old) is not None


def delete_expired(session: Session) -> int:
    """Delete responses older than a day. Return their number."""
    return count_changed_rows(
        session, delete(Idempotency).where(Idempotency.created_at < current_time(session) - RETENTION)
    )


def insert_once(session: Session, table: type[Any], row: dict[str, Any]) -> Any:
    """Return an INSERT statement that does nothing if the key exists."""
    make = sqlite_insert if get_database(session).is_sqlite else postgres_insert
    return make(table).values(**row).on_conflict_do_nothing()
