"""Registered bots."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from referee.store.schema.base import Base, Id, Json, Name, Word, one_of

BOT_STATES = ("unverified", "verified", "paused", "retired", "house")
CHECK_STATES = ("idle", "due", "running")


class Bot(Base):
    """A registered endpoint. ``url`` is what the owner wants, ``proven_url`` what answered the challenge."""

    __tablename__ = "bots"
    __table_args__ = (
        one_of("status", BOT_STATES),
        one_of("check_state", CHECK_STATES),
        Index(None, "check_state", "check_due_at"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str] = mapped_column(Name)
    name_key: Mapped[str] = mapped_column(String(128), unique=True)
    url: Mapped[str] = mapped_column(String(2048))
    proven_url: Mapped[str | None] = mapped_column(String(2048))
    host: Mapped[str] = mapped_column(String(255), index=True)
    status: Mapped[str] = mapped_column(Word)
    status_reason: Mapped[str | None] = mapped_column(Text)
    version: Mapped[str | None] = mapped_column(String(128))
    games: Mapped[list[Any]]
    max_calls: Mapped[int]
    secret_generation: Mapped[int]
    previous_secret_until: Mapped[datetime | None]
    revision: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(index=True)
    check_state: Mapped[str] = mapped_column(Word)
    check_due_at: Mapped[datetime | None]
    check_epoch: Mapped[int]
    checks_lost: Mapped[int]  # claims of this check in a row whose claimer died
    check_report: Mapped[Json | None]
    checked_at: Mapped[datetime | None]
    lease_boot: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[float | None]
    sour_matches: Mapped[int] = mapped_column(default=0)  # in a row, in which it was not called to the end
