"""Registered bots, their examinations and the certificates that came of them."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import Base, Id, Json, Name, Word, one_of
from referee.db.leases import Leased

BOT_STATES = ("unverified", "verified", "paused", "retired", "house")
CHECK_STATES = ("idle", "due", "running")
EXAMINATION_STATES = CHECK_STATES


class Bot(Leased, Base):
    """A registered endpoint. ``url`` is what the owner wants, ``verified_url`` what answered the challenge."""

    __tablename__ = "bots"
    __table_args__ = (
        one_of("status", BOT_STATES),
        one_of("check_state", CHECK_STATES),
        Index(None, "check_state", "check_due_at"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str] = mapped_column(Name)
    normalized_name: Mapped[str] = mapped_column(String(128), unique=True)
    url: Mapped[str] = mapped_column(String(2048))
    verified_url: Mapped[str | None] = mapped_column(String(2048))
    host: Mapped[str] = mapped_column(String(255), index=True)
    status: Mapped[str] = mapped_column(Word)
    status_reason: Mapped[str | None] = mapped_column(Text)
    version: Mapped[str | None] = mapped_column(String(128))
    games: Mapped[list[Any]]
    max_concurrent_requests: Mapped[int]
    secret_generation: Mapped[int]
    previous_secret_until: Mapped[datetime | None]
    revision: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(index=True)
    check_state: Mapped[str] = mapped_column(Word)
    check_due_at: Mapped[datetime | None]
    epoch: Mapped[int] = mapped_column("check_epoch")  # the claims on a bot are those of its checks
    checks_lost: Mapped[int]  # claims of this check in a row whose claimer died
    check_report: Mapped[Json | None]
    checked_at: Mapped[datetime | None]
    unreachable_streak: Mapped[int] = mapped_column(default=0)  # in a row, in which it was not called to the end


class Examination(Leased, Base):
    """The conformance suite as it is run on a bot: the examination that is due or under way, and what the last found.

    ``report`` is for the owner alone: it may hold what the bot answered.
    """

    __tablename__ = "examinations"
    __table_args__ = (one_of("state", EXAMINATION_STATES), Index(None, "state", "due_at"))

    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    state: Mapped[str] = mapped_column(Word)
    requested_by_owner: Mapped[bool]  # by its owner: it is examined whatever certificates it has, and before others
    due_at: Mapped[datetime | None]
    lost_claims: Mapped[int]  # claims in a row whose claimer died
    questions_sent: Mapped[int]  # questions, so far
    questions_total: Mapped[int]
    current_step: Mapped[str] = mapped_column(Word)  # is looked at now
    version: Mapped[str | None] = mapped_column(String(128))  # of the bot, in the last that ended
    rules: Mapped[Json]  # versions of the rules by game, in the last that ended
    report: Mapped[Json | None]
    ended_at: Mapped[datetime | None]
    excused_before: Mapped[datetime | None]  # events begun by then took the bot when there were no certificates

    @property
    def last_report(self) -> Json | None:
        """Return the report of the last examination, None while the next is due or under way."""
        return self.report if self.state == "idle" else None


class Certificate(Base):
    """What an examination attests: this version of a bot keeps the protocol in these games, by these rules.

    It holds until a later examination of the same version replaces or refutes it.
    """

    __tablename__ = "certificates"
    __table_args__ = (Index(None, "bot_id", "version"), Index(None, "bot_id", "issued_at", "id"))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"))
    version: Mapped[str] = mapped_column(String(128))
    rules: Mapped[Json]  # versions of the rules by game that was passed
    engine_version: Mapped[str] = mapped_column(Word)
    protocol: Mapped[str] = mapped_column(Word)
    warnings: Mapped[list[Any]]  # ids of rules that only warn
    issued_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    ended_reason: Mapped[str | None] = mapped_column(Word)
