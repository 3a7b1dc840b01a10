"""Define the table of stored pictures, and which pages have one."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import Base, Id, StoredEnum, new_metadata, one_of


class PictureKind(StrEnum):
    """List what preview pictures show."""

    MATCH = "match"
    BOT = "bot"
    TOURNAMENT = "tournament"
    LADDER = "ladder"


class PicturesTable(Base):
    """Collect the tables of this extra, which has a schema of its own."""

    __abstract__ = True
    metadata = new_metadata()


class Picture(PicturesTable):
    """Store the picture of a page, and when it was requested.

    A requested picture waits to be drawn, or to be compared with what it would show now, while ``compared_at`` is
    before ``requested_at`` or missing. Rows can be deleted at any time: requests create them again.
    """

    __tablename__ = "pictures"
    __table_args__ = (one_of("kind", PictureKind), Index(None, "requested_at"), Index(None, "compared_at"))

    kind: Mapped[PictureKind] = mapped_column(StoredEnum(PictureKind), primary_key=True)
    subject_id: Mapped[str] = mapped_column(Id, primary_key=True)
    requested_at: Mapped[datetime | None]  # of the last request that asked for a check; None before the first
    compared_at: Mapped[datetime | None]
    is_settled: Mapped[bool]  # what it shows rarely changes from now on
    content_digest: Mapped[str | None] = mapped_column(String(64))
    png: Mapped[bytes | None]
