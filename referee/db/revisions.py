"""Check which schema a database has and whether this program can use it. ``upgrading`` changes the schema."""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from referee.db.engine import Database
from referee.errors import RefereeError, Unavailable

MIGRATIONS = Path(__file__).parent / "migrations"

log = logging.getLogger(__name__)


class WrongSchema(RefereeError):
    """Report a schema that this program cannot use. The message says which it is and what to do."""


class Unwritable(RefereeError):
    """Report a directory in which SQLite cannot create the files that it needs beside the database."""


def check(database: Database) -> None:
    """Raise ``WrongSchema`` unless the schema is the one that this program needs."""
    found, wanted = read_revision(database), required_revision()
    if found == wanted:
        return
    if found is None:
        raise WrongSchema(
            f"The database has no tables yet; this version of Referee needs schema {wanted}. "
            "Create them with `referee admin upgrade`; `referee up` does this when it starts."
        )
    require_known(found)
    raise WrongSchema(
        f"The database has schema {found}; this version of Referee needs {wanted}. Stop the service, make a "
        "backup, then run `referee admin upgrade`; `referee up` does this when it starts."
    )


def is_usable_at_start(database: Database) -> bool:
    """Return whether a process of the service may start with this database, and log why not.

    A database that is not available now may become available, so log only a warning and return True in that case. A
    directory that cannot be written to is an error of the installation.
    """
    try:
        _require_writable(database)
        check(database)
    except (WrongSchema, Unwritable) as error:
        log.error(str(error))
        return False
    except Unavailable as error:
        log.warning("schema_check_skipped", extra={"reason": str(error)})
    finally:
        database.dispose()  # forked children cannot use its connections
    return True


def _require_writable(database: Database) -> None:
    if not database.is_sqlite:
        return
    folder = Path(str(database.url.database)).resolve().parent
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Unwritable(
            f"This process cannot write to {folder}, in which SQLite needs to create files. Mount it writable, or give "
            "this user write access."
        )


def require_known(found: str, migrations: Path = MIGRATIONS) -> None:
    """Raise ``WrongSchema`` for a revision that none of the ``migrations`` produces."""
    known = _known_revisions(migrations)
    if found in known:
        return
    if found < known[0]:
        raise WrongSchema(
            f"The database has schema {found}, made before version 1.0 of Referee, and cannot be upgraded. Export what "
            "you need with the program that made it. Nothing was changed."
        )
    raise WrongSchema(
        f"The database has schema {found}, made by a newer version of Referee; this one knows schemas up to "
        f"{known[-1]}. Install the newer version, or restore a backup from before the upgrade."
    )


def read_revision(database: Database) -> str | None:
    """Return the revision of the schema, or None if there is none yet. Raise ``WrongSchema`` for a damaged file."""
    if database.is_sqlite and not Path(str(database.url.database)).exists():
        return None
    with translate_damage(database), database.inspection_connection() as connection:
        return read_revision_from(connection)


@contextmanager
def translate_damage(database: Database) -> Iterator[None]:
    """Raise ``WrongSchema`` in place of the error with which SQLite refuses a file that is not a database."""
    try:
        yield
    except DBAPIError as error:
        if type(error.orig) is not sqlite3.DatabaseError:  # its subclasses report other problems
            raise
        raise WrongSchema(
            f"{database.url.database} is damaged or not a database ({error.orig}). Restore a backup, or choose another "
            "data directory."
        ) from error


def read_revision_from(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def required_revision() -> str:
    """Return the revision that this program needs."""
    return _known_revisions(MIGRATIONS)[-1]


def _known_revisions(migrations: Path) -> list[str]:
    # Read the revisions from the file names: every process needs them at startup, and importing Alembic takes a third
    # of a second.
    return sorted(path.name.partition("_")[0] for path in (migrations / "versions").glob("[0-9]*.py"))
