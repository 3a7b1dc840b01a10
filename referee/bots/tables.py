"""Define the tables of bots, their handshakes, checks and certificates."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from referee.bots.profiles import MAX_LANGUAGE_LENGTH, MAX_SUMMARY_LENGTH
from referee.bots.states import BotState, CheckState
from referee.db.base import Base, Id, Json, Name, ShortString, StoredEnum, one_of
from referee.db.leases import Leased
from referee.db.texts import MAX_LINK_LENGTH
from referee.protocol.messages import DEFAULT_MAX_CONCURRENT_REQUESTS

_ERASING: Final = text("deleted_at IS NOT NULL AND erased_at IS NULL")


class Bot(Leased, Base):
    """Store a bot. ``url`` is the address that its owner set, ``verified_url`` the one that passed the challenge."""

    __tablename__ = "bots"
    __table_args__ = (
        one_of("status", BotState),
        one_of("handshake_state", CheckState),
        Index(None, "handshake_state", "handshake_due_at"),
        Index("ix_bots_erasing", "deleted_at", sqlite_where=_ERASING, postgresql_where=_ERASING),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str] = mapped_column(Name)
    normalized_name: Mapped[str] = mapped_column(String(128), unique=True)
    summary: Mapped[str | None] = mapped_column(String(MAX_SUMMARY_LENGTH))  # these three are what its owner says
    language: Mapped[str | None] = mapped_column(String(MAX_LANGUAGE_LENGTH))
    link: Mapped[str | None] = mapped_column(String(MAX_LINK_LENGTH))
    url: Mapped[str] = mapped_column(String(2048))
    verified_url: Mapped[str | None] = mapped_column(String(2048))
    host: Mapped[str] = mapped_column(String(255), index=True)
    status: Mapped[BotState] = mapped_column(StoredEnum(BotState))
    status_reason: Mapped[str | None] = mapped_column(Text)
    version: Mapped[str | None] = mapped_column(String(128))
    games: Mapped[list[Any]] = mapped_column(default=list)
    max_concurrent_requests: Mapped[int] = mapped_column(default=DEFAULT_MAX_CONCURRENT_REQUESTS)
    secret_generation: Mapped[int] = mapped_column(default=1)
    previous_secret_until: Mapped[datetime | None]
    recovery_token_id: Mapped[str | None] = mapped_column(Id)  # while it works, the secret may recover the account
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(index=True)
    handshake_state: Mapped[CheckState] = mapped_column(StoredEnum(CheckState))
    handshake_due_at: Mapped[datetime | None]
    epoch: Mapped[int] = mapped_column("handshake_epoch", default=0)  # claims on a bot are claims on its handshake
    handshake_lost_claims: Mapped[int] = mapped_column(default=0)  # consecutive claims whose lease expired
    handshake_report: Mapped[Json | None]
    handshake_ended_at: Mapped[datetime | None]
    unreachable_streak: Mapped[int] = mapped_column(default=0)  # consecutive matches that it ended unreachable
    deleted_at: Mapped[datetime | None]  # by its owner; results keep the name it played under
    erased_at: Mapped[datetime | None]  # when all data of the owner were gone; see ``workflows.erasing.erasure``


class Check(Leased, Base):
    """Store the check of a bot that is due or running, and the result of its last check.

    Only the owner may read ``report``, which may contain replies of the bot.
    """

    __tablename__ = "checks"
    __table_args__ = (one_of("state", CheckState), Index(None, "state", "due_at"))

    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    state: Mapped[str] = mapped_column(ShortString, default=CheckState.IDLE)
    requested_by_owner: Mapped[bool] = mapped_column(
        default=False
    )  # checked regardless of certificates, before other bots of its owner
    due_at: Mapped[datetime | None]
    lost_claims: Mapped[int] = mapped_column(default=0)  # consecutive claims whose lease expired
    questions_sent: Mapped[int] = mapped_column(default=0)
    questions_total: Mapped[int] = mapped_column(default=0)
    current_step: Mapped[str] = mapped_column(ShortString, default="")  # the game or rule that is checked now
    version: Mapped[str | None] = mapped_column(String(128))  # version of the bot in the last check that ended
    rules: Mapped[Json] = mapped_column(default=dict)  # rules version of each game in the last check that ended
    report: Mapped[Json | None]
    ended_at: Mapped[datetime | None]

    @property
    def last_report(self) -> Json | None:
        """Return the report of the last check, or None while the next is due or running."""
        return self.report if self.state == CheckState.IDLE else None


class Certificate(Base):
    """Store that a version of a bot passed its check in these games, with these versions of their rules.

    The certificate is valid until a later check of the same version ends it.
    """

    __tablename__ = "certificates"
    __table_args__ = (Index(None, "bot_id", "version"), Index(None, "bot_id", "issued_at", "id"))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"))
    version: Mapped[str] = mapped_column(String(128))
    rules: Mapped[Json]  # rules version of each game that passed
    engine_version: Mapped[str] = mapped_column(ShortString)
    protocol: Mapped[str] = mapped_column(ShortString)
    warnings: Mapped[list[Any]]  # ids of conformance rules with warnings
    issued_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    ended_reason: Mapped[str | None] = mapped_column(ShortString)  # a value of ``CertificateEnd``
