"""Tables of bots, their checks and certificates."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from referee.bots.states import BotState, CheckState
from referee.db.base import Base, Id, Json, Name, ShortString, StoredEnum, one_of
from referee.db.leases import Leased


class Bot(Leased, Base):
    """A registered endpoint. ``url`` is what the owner wants, ``verified_url`` what answered the challenge."""

    __tablename__ = "bots"
    __table_args__ = (
        one_of("status", BotState),
        one_of("check_state", CheckState),
        Index(None, "check_state", "check_due_at"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str] = mapped_column(Name)
    normalized_name: Mapped[str] = mapped_column(String(128), unique=True)
    url: Mapped[str] = mapped_column(String(2048))
    verified_url: Mapped[str | None] = mapped_column(String(2048))
    host: Mapped[str] = mapped_column(String(255), index=True)
    status: Mapped[BotState] = mapped_column(StoredEnum(BotState))
    status_reason: Mapped[str | None] = mapped_column(Text)
    version: Mapped[str | None] = mapped_column(String(128))
    games: Mapped[list[Any]]
    max_concurrent_requests: Mapped[int]
    secret_generation: Mapped[int]
    previous_secret_until: Mapped[datetime | None]
    revision: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(index=True)
    check_state: Mapped[CheckState] = mapped_column(StoredEnum(CheckState))
    check_due_at: Mapped[datetime | None]
    epoch: Mapped[int] = mapped_column("check_epoch")  # claims on a bot are claims on its handshake
    checks_lost: Mapped[int]  # consecutive claims on this handshake whose lease expired
    check_report: Mapped[Json | None]
    checked_at: Mapped[datetime | None]
    unreachable_streak: Mapped[int] = mapped_column(default=0)  # in a row, in which it was not called to the end


class Examination(Leased, Base):
    """The check of a bot with the conformance suite: the one that is due or running, and the outcome of the last.

    ``report`` is only for the owner: it may contain replies of the bot.
    """

    __tablename__ = "examinations"
    __table_args__ = (one_of("state", CheckState), Index(None, "state", "due_at"))

    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    state: Mapped[CheckState] = mapped_column(StoredEnum(CheckState))
    requested_by_owner: Mapped[bool]  # by its owner: it is examined whatever certificates it has, and before others
    due_at: Mapped[datetime | None]
    lost_claims: Mapped[int]  # claims in a row whose claimer died
    questions_sent: Mapped[int]  # questions, so far
    questions_total: Mapped[int]
    current_step: Mapped[str] = mapped_column(ShortString)  # is looked at now
    version: Mapped[str | None] = mapped_column(String(128))  # of the bot, in the last that ended
    rules: Mapped[Json]  # versions of the rules by game, in the last that ended
    report: Mapped[Json | None]
    ended_at: Mapped[datetime | None]
    excused_before: Mapped[datetime | None]  # tournaments started by then need no certificate

    @property
    def last_report(self) -> Json | None:
        """Return the report of the last check, None while the next is due or running."""
        return self.report if self.state == CheckState.IDLE else None


class Certificate(Base):
    """The statement that this version of a bot passed its check in these games, by these versions of the rules.

    It is valid until a later check of the same version ends it.
    """

    __tablename__ = "certificates"
    __table_args__ = (Index(None, "bot_id", "version"), Index(None, "bot_id", "issued_at", "id"))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"))
    version: Mapped[str] = mapped_column(String(128))
    rules: Mapped[Json]  # versions of the rules by game that passed
    engine_version: Mapped[str] = mapped_column(ShortString)
    protocol: Mapped[str] = mapped_column(ShortString)
    warnings: Mapped[list[Any]]  # ids of rules that only warn
    issued_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    ended_reason: Mapped[str | None] = mapped_column(ShortString)  # a CertificateEnd
