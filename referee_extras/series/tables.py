"""Define the tables of series, their tournaments and their co-organisers."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from referee.accounts.tables import Account
from referee.db.base import Base, Id, Title, new_metadata
from referee.tournaments.tables import Tournament


class SeriesTable(Base):
    """Collect the tables of this extra, which has a schema of its own."""

    __abstract__ = True
    metadata = new_metadata()


class Series(SeriesTable):
    """Represent a series of tournaments. Its standings follow from those of its finished tournaments."""

    __tablename__ = "series"
    __table_args__ = (Index(None, "created_at", "id"),)

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(Title)
    description: Mapped[str | None] = mapped_column(Text)  # in Markdown
    points: Mapped[list[Any]]  # for the ranks from 1
    best: Mapped[int | None]  # number of results of a bot that count; None: all
    listed: Mapped[bool]  # otherwise it is in no list
    # None after the last organiser has left
    created_by: Mapped[str | None] = mapped_column(ForeignKey(Account.id), index=True)
    created_at: Mapped[datetime]
    revision: Mapped[int]


class SeriesTournament(SeriesTable):
    """Put a tournament into a series. ``number`` gives the order."""

    __tablename__ = "series_tournaments"

    series_id: Mapped[str] = mapped_column(ForeignKey(Series.id), primary_key=True)
    tournament_id: Mapped[str] = mapped_column(ForeignKey(Tournament.id), primary_key=True, index=True)
    number: Mapped[int]
    added_at: Mapped[datetime]


class SeriesOrganiser(SeriesTable):
    """Name an account that runs a series together with the one that created it."""

    __tablename__ = "series_organisers"

    series_id: Mapped[str] = mapped_column(ForeignKey(Series.id), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey(Account.id), primary_key=True, index=True)
    added_at: Mapped[datetime]
