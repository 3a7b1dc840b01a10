"""Accounts, their tokens, and the answers kept for them."""

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import Base, Id, Name, Word, one_of

ROLES = ("owner", "organiser", "admin")


class Account(Base):
    """Somebody who may ask for something."""

    __tablename__ = "accounts"
    __table_args__ = (one_of("role", ROLES),)

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(Name)
    normalized_name: Mapped[str] = mapped_column(String(128), unique=True)
    role: Mapped[str] = mapped_column(Word)
    created_at: Mapped[datetime]


class Token(Base):
    """A key to an account; only its hash is kept."""

    __tablename__ = "tokens"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str] = mapped_column(Name)
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    hint: Mapped[str] = mapped_column(Word)
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
