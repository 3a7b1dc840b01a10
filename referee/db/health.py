"""Find out whether the database can be read and written, and whether it is still the same one."""

import os
import threading
from enum import StrEnum

from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import Base
from referee.db.driver_errors import is_damage
from referee.db.engine import Database
from referee.errors import RefereeError


class DatabaseHealth(StrEnum):
    """List the states of a database, as one process sees it."""

    OK = "ok"
    UNWRITABLE = "unwritable"  # it can be read, but nothing can be stored
    REPLACED = "replaced"  # another database is where this one was, or its file is gone
    DAMAGED = "damaged"  # its file or its indexes cannot be read
    UNAVAILABLE = "unavailable"


class DatabaseIdentity(Base):
    """Identify this database, in its only row. ``probe`` changes with each attempt to write."""

    __tablename__ = "installation"

    number: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[str]
    probe: Mapped[int]


class HealthCheck:
    """Check one database. The first check that succeeds remembers which database it is. Thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._known: tuple[str, tuple[int, int] | None] | None = None

    def run(self) -> DatabaseHealth:
        """Read the database and store a number in it. Raise no error of the database."""
        with self._lock:
            try:
                with self._database.read() as session:
                    found = session.scalars(select(DatabaseIdentity.id)).one(), self._read_inode()
            except FileNotFoundError:
                return DatabaseHealth.REPLACED
            except (SQLAlchemyError, RefereeError, OSError) as error:
                return DatabaseHealth.DAMAGED if is_damage(error) else DatabaseHealth.UNAVAILABLE
            self._known = self._known or found
            if found != self._known:
                return DatabaseHealth.REPLACED
            if self._database.was_damage_seen():
                return DatabaseHealth.DAMAGED
            return self._write()

    def _read_inode(self) -> tuple[int, int] | None:
        """Return the device and inode of the file of the database, or None if it has none. Raise ``OSError``."""
        if not self._database.is_sqlite:
            return None
        status = os.stat(str(self._database.url.database))
        return status.st_dev, status.st_ino

    def _write(self) -> DatabaseHealth:
        try:
            with self._database.write(durable=False) as session:
                session.execute(update(DatabaseIdentity).values(probe=DatabaseIdentity.probe + 1))
        except (SQLAlchemyError, RefereeError, OSError) as error:
            return DatabaseHealth.DAMAGED if is_damage(error) else DatabaseHealth.UNWRITABLE
        return DatabaseHealth.OK
