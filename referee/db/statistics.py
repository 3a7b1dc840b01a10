"""Remove the statistics that SQLite's ANALYZE stores. PostgreSQL keeps its own, with the most common values.

SQLite's statistics have only averages. With them, where few matches belong to a tournament or few are open, it reads
whole tables instead of an index. All statements were made and measured without statistics.
"""

from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from referee.db.engine import Database, get_database

_TABLES: Final = ("sqlite_stat1", "sqlite_stat4")
_FIND: Final = text("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'")


def has_statistics(session: Session) -> bool:
    """Return whether somebody has run ANALYZE on a database of SQLite."""
    return get_database(session).is_sqlite and session.scalar(_FIND) is not None


def remove_statistics(database: Database) -> None:
    """Remove the statistics of a database of SQLite. All processes notice with their next statements."""
    with database.write() as session:
        for table in _TABLES:
            session.execute(text(f"DROP TABLE IF EXISTS {table}"))
    database.dispose()  # the connection that dropped the tables would be the only one to remember them
