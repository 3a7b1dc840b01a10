"""Records that are emptied from test to test instead of made anew: their SQL is compiled once for the whole run.

A ``Database`` compiles what it is asked for the first time, which takes longer than most tests. What is emptied are the
files and tables; nothing but compiled SQL is kept, and every test opens connections of its own.
"""

import shutil
from pathlib import Path

from referee.db.clock import Clock, SystemClock
from referee.db.engine import Database
from referee.schema import Base
from tests.database import postgres

_KEPT: dict[str, Database] = {}


def kept(url: str, clock: Clock | None = None) -> Database:
    """The database at this URL, the same for all tests of this process that ask; each closes its connections."""
    if url not in _KEPT:
        _KEPT[url] = Database(url)
    _KEPT[url].clock = clock or SystemClock()
    return _KEPT[url]


def sqlite_url(folder: Path, template: Path) -> str:
    """The URL of a file in ``folder`` that holds what the template does; what was there before is gone."""
    path = folder / "referee.db"
    for left in ("-wal", "-shm"):
        path.with_name(path.name + left).unlink(missing_ok=True)
    shutil.copy(template, folder / "next.db")
    (folder / "next.db").replace(path)  # a new file: whoever still has the old one open harms nobody
    return f"sqlite:///{path}"


def postgres_url(server: postgres.Server, name: str) -> str:
    """The URL of this database of the server, without rows and sessions; it has today's schema."""
    server.end_sessions(name)
    server.execute(f"TRUNCATE {', '.join(Base.metadata.tables)} RESTART IDENTITY", database=name)
    return server.url(name)
