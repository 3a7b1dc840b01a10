"""Put the database of a backup in the place of a service's own, and settle its matches.

Matches that were not over when the backup was made may have been played since, so their cards may be known. They are
cancelled, and tournaments play them again with other cards.
"""

import os
import secrets
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, func, select, text, update
from sqlalchemy.exc import SQLAlchemyError

import referee.schema  # noqa: F401  # flushing needs all tables, because their foreign keys refer to each other
from referee.accounts import acts
from referee.accounts.act_kinds import ActKind
from referee.accounts.oversight_tables import Act
from referee.bots import checks
from referee.db import revisions, sealing
from referee.db.engine import Database
from referee.db.health import DatabaseIdentity
from referee.db.upgrading import upgrade
from referee.errors import RefereeError
from referee.master_keys import key_ring
from referee.matches.tables import Result
from referee.settings import Settings
from referee.workflows.voids import voiding
from referee.workflows.voids.voiding import VoidReport
from referee_extras.backups.backup import BackupError, Inventory, extract_copy, read_inventory, run_postgres_program

JOURNALS: Final = ("", "-wal", "-shm")  # suffixes of the files of a SQLite database
SUFFIXES: Final = (*JOURNALS, ".lock")  # … and of the file that admits one writer at a time
LOST: Final = {"results": Result, "acts": Act}  # what is counted in a database before it is replaced


@dataclass(frozen=True, slots=True)
class Restored:
    """Describe what was restored: the backup, the cancelled matches, and where the replaced database is now.

    The tables of ``uninstalled_extras`` were restored, too, and nothing reads them.
    """

    inventory: Inventory
    settled: VoidReport
    replaced: Path | None
    uninstalled_extras: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Replaced:
    """Hold what could be read from the replaced database: what is lost, and its acts of earlier restores.

    ``lost`` is None if it is not the database of the backup.
    """

    lost: dict[str, int] | None = None
    restores: Sequence[Mapping[str, Any]] = ()


def restore(backup: Path, settings: Settings, *, replaces: bool) -> Restored:
    """Restore a backup into the database of the settings, settle its matches, and give it a new identity.

    No process may use the database meanwhile; on SQLite, the caller must own the data directory. With ``replaces``, an
    existing database is replaced: a file of SQLite is kept under another name, one on PostgreSQL is overwritten. If
    this fails on SQLite, the database is as it was; on PostgreSQL, run it again before a worker starts. Raise
    ``BackupError`` if the backup is damaged, needs another master key, is of another kind of database or of a newer
    version, or would replace a database without ``replaces``.
    """
    inventory, database = read_inventory(backup), Database.from_settings(settings)
    _check_fit(inventory, database, settings, backup)
    try:
        if database.is_sqlite:
            return _restore_sqlite(backup, database, settings, replaces=replaces)
        return _restore_postgres(backup, database, settings, replaces=replaces)
    finally:
        database.dispose()


def settle(database: Database, inventory: Inventory, master_key: bytes, replaced: Replaced) -> VoidReport:
    """Upgrade a restored database if necessary, and cancel the matches whose cards may be known.

    Record the restore in the list of acts, with how much is lost if this is known, after the earlier restores that only
    the ``replaced`` database lists. Return the matches that were cancelled or voided, and their rematches.
    """
    reason = f"cancelled by the operator: the database was restored from a backup of {inventory.created_at}"

    upgrade(database)
    with database.write() as session:
        checks.catch_up(session)  # so that bots with an outdated certificate keep their seats until their check
        settled = voiding.cancel_all_open(session, reason, master_key=master_key)
        identity = secrets.token_hex(16)
        session.execute(update(DatabaseIdentity).values(id=identity))
        listed = set(session.scalars(select(Act.object_id).where(Act.kind == ActKind.SERVICE_RESTORED)))
        session.add_all(Act(**act) for act in replaced.restores if act["object_id"] not in listed)
        acts.record_act(
            session,
            None,
            ActKind.SERVICE_RESTORED,
            identity,
            backup_made_at=inventory.created_at,
            backup_version=inventory.program_version,
            last_result=inventory.last_result,
            lost=replaced.lost,
        )
    return settled


def _read_replaced(connection: Connection, inventory: Inventory) -> Replaced:
    names = ("created_at", "account_name", "kind", "object_id", "details", "reason")  # always of the command line
    query = select(*(getattr(Act, name) for name in names)).where(Act.kind == ActKind.SERVICE_RESTORED)
    restores = [dict(act) for act in connection.execute(query.order_by(Act.id)).mappings()]
    return Replaced(_count_lost(connection, inventory), restores)


def _count_lost(connection: Connection, inventory: Inventory) -> dict[str, int] | None:
    """Return how many results and acts a database has and its backup lacks, or None if they do not belong together."""
    if connection.scalar(select(DatabaseIdentity.id)) != inventory.installation:
        return None
    counts = {name: connection.scalar(select(func.count()).select_from(table)) for name, table in LOST.items()}
    return {name: (count or 0) - inventory.counts[name] for name, count in counts.items() if name in inventory.counts}


def _check_fit(inventory: Inventory, database: Database, settings: Settings, backup: Path) -> None:
    kind = database.url.get_backend_name()
    if inventory.database != kind:
        raise BackupError(
            f"{backup} contains a database of {inventory.database}, and DATABASE_URL names one of {kind}. Set "
            "DATABASE_URL to a database of the same kind."
        )
    if inventory.master_key_id not in map(sealing.key_id, key_ring(settings.master_key)):
        raise BackupError(
            f"{backup} was made with another master key (id {inventory.master_key_id}; this one has "
            f"{sealing.key_id(settings.master_key)}). The secrets of bots and the seeds of deals are lost without it: "
            "put that key into REFEREE_MASTER_KEY, or into master.key in the data directory."
        )
    revisions.require_known(inventory.schema)


# -- SQLite --


def _restore_sqlite(backup: Path, database: Database, settings: Settings, *, replaces: bool) -> Restored:
    path = Path(str(database.url.database))
    if path.exists() and not replaces:
        raise BackupError(f"{path} exists. Pass --replace to put the backup in its place; the file will be kept.")
    coming = path.with_name(f"{path.name}.restoring")
    _remove(coming)
    inventory = extract_copy(backup, coming)
    before = Replaced()
    with suppress(SQLAlchemyError, RefereeError):  # it is damaged or of an early version
        if path.exists():
            with database.inspection_connection() as connection:
                before = _read_replaced(connection, inventory)
    copy = Database(f"sqlite:///{coming}")
    try:
        settled = settle(copy, inventory, settings.master_key, before)
        with copy.inspection_connection() as connection:
            left = revisions.list_uninstalled_extras(connection)
    finally:
        copy.dispose()
    replaced = _set_aside(path) if path.exists() else None
    os.replace(coming, path)  # closing the last connection has moved everything from the -wal file into this one
    _remove(coming)
    return Restored(inventory, settled, replaced, left)


def _remove(path: Path) -> None:
    for suffix in SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _set_aside(path: Path) -> Path:
    """Rename the files of a database, and return its new path. Raise ``BackupError`` if another process has it open."""
    _merge_journal(path)
    kept = path.with_name(f"{path.name}.replaced-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    for suffix in reversed(JOURNALS):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(kept.with_name(kept.name + suffix))
    return kept


def _merge_journal(path: Path) -> None:
    """Move the rows of the -wal file into the database, which SQLite refuses while another process has it open.

    A damaged database cannot be opened, so it keeps its -wal file.
    """
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path, timeout=0)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise BackupError(
                f"Another process has {path} open. Stop the API, the workers and the scheduler first."
            ) from error


# -- PostgreSQL --


def _restore_postgres(backup: Path, database: Database, settings: Settings, *, replaces: bool) -> Restored:
    with database.inspection_connection() as connection:
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        sessions = connection.scalar(text(others)) or 0
        existing = revisions.read_revision_from(connection)
    if sessions:
        raise BackupError(
            f"Other programs are connected to the database ({sessions} sessions). Stop the API, the workers and the "
            "scheduler on all hosts first."
        )
    if existing is not None and not replaces:
        raise BackupError("The database is not empty. Pass --replace to overwrite it with the backup.")
    before = Replaced()
    with suppress(SQLAlchemyError), database.inspection_connection() as connection:  # it has no tables yet
        before = _read_replaced(connection, read_inventory(backup))
    database.dispose()
    with tempfile.TemporaryDirectory(prefix=".referee-restore-", dir=backup.parent) as folder:
        dump = Path(folder) / "referee.pgdump"
        inventory = extract_copy(backup, dump)
        arguments = ("--clean", "--if-exists", "--no-owner", "--single-transaction", "--exit-on-error")
        run_postgres_program(database, "pg_restore", *arguments, str(dump))
    settled = settle(database, inventory, settings.master_key, before)
    with database.inspection_connection() as connection:
        return Restored(inventory, settled, None, revisions.list_uninstalled_extras(connection))
