"""Requests marked with a key take effect once: the answer is kept in the transaction of the effect."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import String, delete, select, update
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from referee.db.base import Base
from referee.db.engine import count_changed_rows, current_time, database_of
from referee.errors import Conflict

KEPT = timedelta(hours=24)


class Idempotency(Base):
    """The answer given to a request that its client marked with a key."""

    __tablename__ = "idempotency"

    account_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    body_hash: Mapped[str] = mapped_column(String(64))
    status: Mapped[int | None]
    body: Mapped[bytes | None]
    created_at: Mapped[datetime] = mapped_column(index=True)


class IdempotencyMismatch(Conflict):
    """The key came before, with another body."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The answer given the first time."""

    status: int
    body: bytes


def begin(session: Session, account_id: str, key: str, body_hash: str) -> Stored | None:
    """None when the request is new: carry it out and call ``finish`` in this transaction. Else what was answered.

    Of two at once, the second waits here until the first is committed. Raises ``IdempotencyMismatch``.
    """
    moment = current_time(session)
    stale = Idempotency.created_at < moment - KEPT
    session.execute(delete(Idempotency).where(Idempotency.account_id == account_id, Idempotency.key == key, stale))
    row = {"account_id": account_id, "key": key, "body_hash": body_hash, "created_at": moment}
    if session.scalar(insert_once(session, Idempotency, row).returning(Idempotency.key)) is not None:
        return None
    # Fresh: the row may be older than this transaction's first look at the table.
    known = session.get_one(Idempotency, (account_id, key), populate_existing=True)
    if known.body_hash != body_hash:
        raise IdempotencyMismatch("this idempotency key was used with another request")
    if known.status is None or known.body is None:
        raise Conflict("the first request with this idempotency key is still being carried out")
    return Stored(known.status, known.body)


def finish(session: Session, account_id: str, key: str, status: int, body: bytes) -> None:
    """Keeps the answer for whoever asks again."""
    ours = (Idempotency.account_id == account_id, Idempotency.key == key)
    session.execute(update(Idempotency).where(*ours).values(status=status, body=body))


def any_old(session: Session) -> bool:
    """Whether ``forget_old`` has something to do."""
    old = select(Idempotency.key).where(Idempotency.created_at < current_time(session) - KEPT).limit(1)
    return session.scalar(old) is not None


def forget_old(session: Session) -> int:
    """Drops the answers older than a day; tells how many."""
    return count_changed_rows(session, delete(Idempotency).where(Idempotency.created_at < current_time(session) - KEPT))


def insert_once(session: Session, table: type[Any], row: dict[str, Any]) -> Any:
    """An INSERT that does nothing where the key is there already."""
    make = sqlite_insert if database_of(session).is_sqlite else postgres_insert
    return make(table).values(**row).on_conflict_do_nothing()
