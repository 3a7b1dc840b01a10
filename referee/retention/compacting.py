"""Give the free pages of a SQLite database back to the disk. PostgreSQL does this by itself (autovacuum)."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from referee.db.engine import Database
from referee.errors import Conflict


def compact(database: Database) -> int:
    """Rewrite the file of the database without free pages. Return by how many bytes it shrank; 0 on PostgreSQL.

    Raise ``Conflict`` if another process has the database open, or if the disk lacks room for a copy.
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
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        raise Conflict(f"Another process has {path} open. Stop the service, then compact.") from error
    return before - path.stat().st_size
