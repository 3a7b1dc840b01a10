"""Restore the fixtures: databases with schema 0004, the only place where tests name its columns."""

import json
import lzma
from pathlib import Path
from typing import Any, Final

from sqlalchemy import text

from referee.db.engine import Database
from tests.database import postgres

FOLDER: Final = Path(__file__).parent
# Columns with addresses of bots and of receivers of notifications.
ADDRESSES: Final = (("bots", "url"), ("bots", "proven_url"), ("match_seats", "url"), ("webhooks", "url"))


def expectations(kind: str) -> dict[str, Any]:
    """Return what was recorded when the fixture was filled."""
    found: dict[str, Any] = json.loads((FOLDER / f"{kind}.json").read_text())
    return found


def restore_sqlite(folder: Path) -> str:
    """Unpack the SQLite fixture into this folder and return its URL."""
    path = folder / "referee.db"
    path.write_bytes(_unpacked("sqlite.db"))
    return f"sqlite:///{path}"


def restore_postgresql(server: postgres.Server, name: str) -> str:
    """Restore the PostgreSQL fixture as a new database of this name and return its URL."""
    server.execute(f"CREATE DATABASE {name}")
    server.execute(_unpacked("postgresql.sql").decode(), database=name)
    return server.url(name)


def replace_address(database: Database, before: str, after: str) -> None:
    """Replace an address in a restored database that has not been upgraded yet."""
    with database.migration_connection() as connection:
        for table, column in ADDRESSES:
            replaced = f"UPDATE {table} SET {column} = replace({column}, :before, :after)"
            connection.execute(text(replaced), {"before": f"{before}/", "after": f"{after}/"})


def tables_of_the_schema() -> set[str]:
    """Return the names of the tables that the PostgreSQL fixture creates, Alembic's own left out."""
    lines = _unpacked("postgresql.sql").decode().splitlines()
    created = {line.split()[2].removeprefix("public.") for line in lines if line.startswith("CREATE TABLE ")}
    return created - {"alembic_version"}


def _unpacked(name: str) -> bytes:
    return lzma.decompress((FOLDER / f"{name}.xz").read_bytes())
