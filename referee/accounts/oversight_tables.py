"""Define the tables of requests for the role of an organiser, and of the list of acts."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import AutoIncrement, Base, Id, Json, Name, StoredWord


class OrganiserRequest(Base):
    """Store that an account asked for the role of an organiser. It is deleted when the role is given."""

    __tablename__ = "organiser_requests"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    text: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    refused_at: Mapped[datetime | None]
    reason: Mapped[str | None] = mapped_column(Text)


class Act(Base):
    """Record what an operator or organiser did. Triggers of the database refuse changes and deletions."""

    __tablename__ = "acts"
    __table_args__ = (Index(None, "tournament_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(AutoIncrement, primary_key=True)
    created_at: Mapped[datetime]
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"), index=True)  # none: on the command line
    account_name: Mapped[str] = mapped_column(Name)  # the name at the time of the act
    kind: Mapped[str] = mapped_column(StoredWord)  # a member of ``ActKind``, or a kind of an extra
    object_id: Mapped[str] = mapped_column(Id)
    # No foreign key: a draft may have been deleted.
    tournament_id: Mapped[str | None] = mapped_column(Id)
    details: Mapped[Json]
    reason: Mapped[str | None] = mapped_column(Text)
