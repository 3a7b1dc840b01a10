"""Define the tables of accounts and their tokens."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from referee.accounts.entry_consent import EntryConsent
from referee.accounts.roles import Role
from referee.db.base import Base, Id, Name, ShortString, StoredEnum, one_of


class Account(Base):
    """Store a person or program that may use the API."""

    __tablename__ = "accounts"
    __table_args__ = (one_of("role", Role), one_of("entry_consent", EntryConsent))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(Name)
    normalized_name: Mapped[str] = mapped_column(String(128), unique=True)
    role: Mapped[Role] = mapped_column(StoredEnum(Role))
    entry_consent: Mapped[EntryConsent] = mapped_column(StoredEnum(EntryConsent), default=EntryConsent.ASK)
    class_of: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))  # the operator who created it for a class
    created_at: Mapped[datetime]
    suspended_at: Mapped[datetime | None]  # since when its requests are refused
    suspension_reason: Mapped[str | None] = mapped_column(Text)
    deleted_at: Mapped[datetime | None]  # the row stays, since results name its id
    recovery_sha256: Mapped[str | None] = mapped_column(String(64))  # hash of the recovery code; None if there is none
    recovery_code_created_at: Mapped[datetime | None]
    recovery_token_id: Mapped[str | None] = mapped_column(Id)  # the token that made the code, which ends with it
    recovered_at: Mapped[datetime | None]  # when its tokens were last replaced; ends all challenges made before


class Token(Base):
    """Store an API token of an account, only as a hash."""

    __tablename__ = "tokens"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str] = mapped_column(Name)
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    hint: Mapped[str] = mapped_column(ShortString)
    scopes: Mapped[list[Any]]  # values of ``Scope``
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]  # None if it never expires
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    parent_id: Mapped[str | None] = mapped_column(Id)  # the token that made this device token, which ends with it
