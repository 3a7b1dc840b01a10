"""Define the tables of rules for friendlies, and of requests for friendlies."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import Base, Id, Json, ShortString, StoredEnum, one_of
from referee.friendlies.states import Challengers, ChallengerVerdict, RequestState


class FriendlyRules(Base):
    """Store who may challenge a bot. A bot without a row plays friendlies with anyone."""

    __tablename__ = "friendly_rules"
    __table_args__ = (one_of("challengers", Challengers),)

    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    challengers: Mapped[Challengers] = mapped_column(StoredEnum(Challengers))


class ChallengerEntry(Base):
    """Store that an owner has accepted or blocked all friendlies of another account."""

    __tablename__ = "challenger_entries"
    __table_args__ = (one_of("verdict", ChallengerVerdict),)

    owner_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    verdict: Mapped[ChallengerVerdict] = mapped_column(StoredEnum(ChallengerVerdict))
    created_at: Mapped[datetime]


class FriendlyRequest(Base):
    """Store a request for a friendly. The state of one that has expired is still ``pending``; see ``requests``."""

    __tablename__ = "friendly_requests"
    __table_args__ = (one_of("state", RequestState), Index(None, "created_by", "created_at", "id"))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    created_by: Mapped[str] = mapped_column(ForeignKey("accounts.id"))
    game: Mapped[str] = mapped_column(ShortString)
    bots: Mapped[list[Any]]  # ids, in order of seats
    options: Mapped[Json]
    budget_ms: Mapped[int]
    bank_ms: Mapped[int]
    state: Mapped[RequestState] = mapped_column(StoredEnum(RequestState))
    reason: Mapped[str | None] = mapped_column(Text)
    match_id: Mapped[str | None] = mapped_column(ForeignKey("matches.id"))
    created_at: Mapped[datetime] = mapped_column(index=True)
    expires_at: Mapped[datetime]
    decided_at: Mapped[datetime | None]


class RequestedOwner(Base):
    """Store that an owner has to decide about a request, and when they accepted it."""

    __tablename__ = "requested_owners"

    request_id: Mapped[str] = mapped_column(ForeignKey("friendly_requests.id"), primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True, index=True)
    accepted_at: Mapped[datetime | None]
