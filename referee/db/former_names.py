"""Keep the former names of bots and accounts: to show them, and so that nobody else takes one for a while.

The names in use are columns of ``bots`` and ``accounts``. A name that was given up is held for ``HOLD``: only the
account that had it may take it, so that nobody inherits the reputation of another. Of a name that may not be shown any
longer, only the digest of its key is kept, and no longer than it is held.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Index, String, delete, func, or_, select, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from referee.db.base import AutoIncrement, Base, Id, Name, StoredEnum, one_of
from referee.db.engine import count_changed_rows, current_time
from referee.db.kinds import NamedKind
from referee.db.names import name_key
from referee.errors import NameTaken, QuotaExceeded

HOLD: Final = timedelta(days=30)
MAX_CHANGES: Final = 5  # changes of a name by its owner within ``HOLD``
_UNNAMED: Final = text("name IS NULL")


class FormerName(Base):
    """Store a name that a bot or an account gave up. The key of a name is that of ``names.name_key``."""

    __tablename__ = "former_names"
    __table_args__ = (
        one_of("kind", NamedKind),
        Index(None, "kind", "key_digest"),
        Index(None, "object_id", "id"),
        Index("ix_former_names_unnamed", "ended_at", sqlite_where=_UNNAMED, postgresql_where=_UNNAMED),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(AutoIncrement, primary_key=True)
    kind: Mapped[NamedKind] = mapped_column(StoredEnum(NamedKind))
    object_id: Mapped[str] = mapped_column(Id)
    owner_id: Mapped[str | None] = mapped_column(Id)  # the account that may take the name again; None: nobody may
    name: Mapped[str | None] = mapped_column(Name)  # None: it is not shown
    key_digest: Mapped[str] = mapped_column(String(64))
    ended_at: Mapped[datetime]


def check_not_held(session: Session, kind: NamedKind, name: str, owner_id: str | None) -> None:
    """Raise ``NameTaken`` if a name that looks the same was given up within ``HOLD`` by others than ``owner_id``."""
    digest = hashlib.sha256(name_key(name).encode()).hexdigest()
    by_others = or_(FormerName.owner_id.is_(None), FormerName.owner_id != (owner_id or ""))
    held = select(func.max(FormerName.ended_at)).where(
        FormerName.kind == kind,
        FormerName.key_digest == digest,
        FormerName.ended_at > current_time(session) - HOLD,
        by_others,
    )
    ended_at = session.scalar(held)
    if ended_at is not None:
        raise NameTaken(
            f"The name {name!r}, or one that looks the same, was given up on {ended_at:%Y-%m-%d}. Nobody else may take "
            f"it before {ended_at + HOLD:%Y-%m-%d}. Choose another name."
        )


def check_changes(session: Session, kind: NamedKind, object_id: str) -> None:
    """Raise ``QuotaExceeded`` if the owner has changed the name of the object too often within ``HOLD``."""
    recent = select(func.count()).where(
        FormerName.object_id == object_id,
        FormerName.name.is_not(None),
        FormerName.ended_at > current_time(session) - HOLD,
    )
    if session.scalars(recent).one() >= MAX_CHANGES:
        raise QuotaExceeded(
            f"The name of this {kind} was changed {MAX_CHANGES} times in the last {HOLD.days} days, which is the "
            "limit. Try again later."
        )


def give_up_name(
    session: Session, kind: NamedKind, object_id: str, name: str, owner_id: str | None, *, is_shown: bool
) -> None:
    """Record that the object has the name no longer. ``owner_id`` may take it again, or nobody if it is None."""
    moment, shown = current_time(session), name if is_shown else None
    digest = hashlib.sha256(name_key(name).encode()).hexdigest()
    row = {"kind": kind, "object_id": object_id, "owner_id": owner_id, "name": shown, "key_digest": digest}
    session.add(FormerName(**row, ended_at=moment))
    session.flush()


def list_former_names(session: Session, object_id: str) -> Sequence[FormerName]:
    """Return the former names of the object that may be shown, the latest first."""
    shown = select(FormerName).where(FormerName.object_id == object_id, FormerName.name.is_not(None))
    return session.scalars(shown.order_by(FormerName.id.desc())).all()


def hide_names(session: Session, object_id: str, *, kept: Sequence[str] = ()) -> None:
    """Remove the former names of the object, apart from those in ``kept``. They are still held."""
    names = update(FormerName).where(FormerName.object_id == object_id, FormerName.name.not_in(kept))
    session.execute(names.values(name=None))


def has_expired(session: Session) -> bool:
    """Return whether ``delete_expired`` would delete anything."""
    return session.scalar(select(FormerName.id).where(*_is_expired(session)).limit(1)) is not None


def delete_expired(session: Session) -> int:
    """Delete names that are neither shown nor held any longer. Return their number."""
    return count_changed_rows(session, delete(FormerName).where(*_is_expired(session)))


def _is_expired(session: Session) -> tuple[ColumnElement[bool], ...]:
    return FormerName.name.is_(None), FormerName.ended_at < current_time(session) - HOLD
