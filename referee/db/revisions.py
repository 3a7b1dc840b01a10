"""Check which schema a database has and whether this program can use it. ``upgrading`` changes the schema.

The service and each extra with tables have a schema of their own, with its migrations and its table of the revision.
"""

import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from referee import plugs
from referee.db.engine import Database
from referee.errors import RefereeError, Unavailable

MIGRATIONS = Path(__file__).parent / "migrations"
VERSION_TABLE: Final = "alembic_version"

log = logging.getLogger(__name__)


class WrongSchema(RefereeError):
    """Report a schema that this program cannot use. The message says which it is and what to do."""


class Unwritable(RefereeError):
    """Report a directory in which SQLite cannot create the files that it needs beside the database."""


@dataclass(frozen=True, slots=True)
class ExtraSchema:
    """Name the tables of an extra: the extra, its migrations, and where its tables are collected (``plugs.load``)."""

    extra: str
    migrations: Path
    metadata: str

    @property
    def version_table(self) -> str:
        return f"{VERSION_TABLE}_{self.extra}"


def list_extra_schemas() -> list[ExtraSchema]:
    """Return the schemas of the installed extras that have tables."""
    return [
        ExtraSchema(extra.name, extra.folder / "migrations", extra.metadata)
        for extra in plugs.extras()
        if extra.metadata is not None
    ]


def check(database: Database) -> None:
    """Raise ``WrongSchema`` unless the schemas are those that this program and its extras need."""
    found, wanted = read_revision(database), required_revision()
    if found is None:
        raise WrongSchema(
            f"The database has no tables yet; this version of Referee needs schema {wanted}. "
            "Create them with `referee admin upgrade`; `referee up` does this when it starts."
        )
    if found != wanted:
        require_known(found)
        raise WrongSchema(
            f"The database has schema {found}; this version of Referee needs {wanted}. Stop the service, make a "
            "backup, then run `referee admin upgrade`; `referee up` does this when it starts."
        )
    with translate_damage(database), database.inspection_connection() as connection:
        outdated = list_outdated_extras(connection)
    if outdated:
        raise WrongSchema(
            f"The database has no current tables of extras of this program: {', '.join(outdated)}. Stop the service, "
            "make a backup, then run `referee admin upgrade`; `referee up` does this when it starts."
        )


def is_current(database: Database) -> bool:
    """Return whether the database has the schemas that this program and its extras need."""
    try:
        check(database)
    except WrongSchema:
        return False
    return True


def list_outdated_extras(connection: Connection) -> list[str]:
    """Return the installed extras whose tables are missing or of an older version.

    Raise ``WrongSchema`` if they are of a newer version.
    """
    outdated = []
    for schema in list_extra_schemas():
        found, known = read_revision_from(connection, schema.version_table), list_revisions(schema.migrations)
        if found is not None and found not in known:
            raise WrongSchema(
                f"The tables of the extra {schema.extra!r} have schema {found}; this one knows {', '.join(known)}. "
                "Install the version of the extra that made them, or restore a backup from before the upgrade."
            )
        if found != known[-1]:
            outdated.append(schema.extra)
    return outdated


def list_uninstalled_extras(connection: Connection) -> Sequence[str]:
    """Return the extras that have tables in the database and are not installed. Nothing reads or changes these."""
    prefix = f"{VERSION_TABLE}_"
    tables = inspect(connection).get_table_names()
    found = {name.removeprefix(prefix) for name in tables if name.startswith(prefix)}
    return sorted(found - {schema.extra for schema in list_extra_schemas()})


def describe_tables_left(extra: str) -> str:
    """Return a sentence about the tables of an extra that is not installed."""
    return f"The extra {extra!r} is not installed; its tables were left as they are."


def is_usable_at_start(database: Database) -> bool:
    """Return whether a process of the service may start with this database, and log why not.

    A database that is not available now may become available, so log only a warning and return True in that case. A
    directory that cannot be written to is an error of the installation.
    """
    try:
        _require_writable(database)
        check(database)
    except (WrongSchema, Unwritable, plugs.BrokenExtra) as error:
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
    known = list_revisions(migrations / "versions")
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


def read_revision_from(connection: Connection, version_table: str = VERSION_TABLE) -> str | None:
    if not inspect(connection).has_table(version_table):
        return None
    query = f"SELECT version_num FROM {version_table}"  # noqa: S608  # the name is ours
    revision: str | None = connection.scalar(text(query))
    return revision


def required_revision() -> str:
    """Return the revision that this program needs."""
    return list_revisions(MIGRATIONS / "versions")[-1]


def list_revisions(folder: Path) -> list[str]:
    """Return the revisions of a folder of migrations, the newest last."""
    # Read the revisions from the file names: every process needs them at startup, and importing Alembic takes a third
    # of a second.
    return sorted(path.name.partition("_")[0] for path in folder.glob("[0-9]*.py"))
