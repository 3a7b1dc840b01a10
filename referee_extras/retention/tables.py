"""Define the tables of pruning runs and of the use of the disk."""

from datetime import date, datetime

from sqlalchemy import BigInteger
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import Base, Json, new_metadata


class RetentionTable(Base):
    """Collect the tables of this extra, which has a schema of its own."""

    __abstract__ = True
    metadata = new_metadata()


class RetentionRun(RetentionTable):
    """Store what was pruned on a day: ``deleted`` has the number of rows and bytes by kind."""

    __tablename__ = "retention_runs"

    day: Mapped[date] = mapped_column(primary_key=True)  # in UTC
    finished_at: Mapped[datetime | None]
    deleted: Mapped[Json]


class DiskUse(RetentionTable):
    """Store what the scheduler measured on a day. ``parts`` has bytes and, where they are counted, rows by part."""

    __tablename__ = "disk_uses"

    day: Mapped[date] = mapped_column(primary_key=True)  # in UTC
    measured_at: Mapped[datetime]
    database_bytes: Mapped[int] = mapped_column(BigInteger)
    free_bytes: Mapped[int] = mapped_column(BigInteger)  # on the disk of the data directory
    parts: Mapped[Json]
