"""Databases that are emptied between tests instead of recreated, so that SQL is compiled once per run.

A ``Database`` compiles each statement on first use, which takes longer than most tests. Files and tables are emptied;
only compiled SQL is kept, and every test opens its own connections.
"""

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from referee.db.clock import Clock, SystemClock
from referee.db.engine import Database
from referee.db.upgrading import upgrade
from tests.database import postgres
from tests.database.tables import all_tables

_KEPT: dict[str, Database] = {}


def kept(url: str, clock: Clock | None = None) -> Database:
    """Yield the database at this URL, the same for all tests of this process; each closes its connections."""
    if url not in _KEPT:
        _KEPT[url] = Database(url)
    _KEPT[url].clock = clock or SystemClock()
    return _KEPT[url]


@cache
def _upgraded() -> bytes:
    """Return the file of an empty database. All migrations take a second, hence once per process."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "referee.db"
        database = Database(f"sqlite:///{path}")
        upgrade(database)
        database.dispose()
        return path.read_bytes()


def write_upgraded(path: Path) -> str:
    """Write an empty database with the current schema. Return its URL."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(_upgraded())
    return f"sqlite:///{path}"


def sqlite_url(folder: Path, template: Path) -> str:
    """Replace the file in ``folder`` by a copy of the template; return its URL."""
    path = folder / "referee.db"
    for left in ("-wal", "-shm"):
        path.with_name(path.name + left).unlink(missing_ok=True)
    shutil.copy(template, folder / "next.db")
    (folder / "next.db").replace(path)  # a new file, so that processes that still have the old one open do no harm
    return f"sqlite:///{path}"


def postgres_url(server: postgres.Server, name: str) -> str:
    """Return the URL of this database of the server, without rows and sessions, with the current schema."""
    server.clear(name, [table.name for table in all_tables()])
    return server.url(name)
