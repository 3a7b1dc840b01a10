"""Give the free pages of a SQLite database back to the disk. PostgreSQL does this by itself (autovacuum)."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from referee.db.engine import Database
from referee.errors import Conflict


def compact(database: Database) -> int:
    """Rewrite the file of the database without free pages. Return by how many bytes it shrank; 0 on PostgreSQL.

    Raise ``Conflict`` if another process has the database open, or if there is no room for its copies: SQLite writes
    one as a temporary file, and one beside the database. Then the database is as it was.
    """
    if not database.is_sqlite:
        return 0
    path = Path(str(database.url.database))
    database.dispose()
    before = path.stat().st_size
    if shutil.disk_usage(path.parent).free < before:
        raise Conflict(f"Compacting needs {before:,} bytes of free disk space beside {path}. Make room first.")
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError as error:
        raise Conflict(_explain(error, path, before)) from error
    return before - path.stat().st_size


def _explain(error: sqlite3.OperationalError, path: Path, size: int) -> str:
    """Return what the error means, what happened to the data, and what to do."""
    if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
        return f"Another process has {path} open. Stop the service, then compact."
    return (
        f"{path} was not compacted ({error}), so no space was given back; it is unchanged and complete, and what was "
        f"pruned stays pruned. Compacting needs up to {size:,} bytes in {path.parent} and as many in the folder for "
        "temporary files ($SQLITE_TMPDIR, else $TMPDIR, else /var/tmp). Make room there, or set SQLITE_TMPDIR to a "
        "folder on another disk, and compact again."
    )
