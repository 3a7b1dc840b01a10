"""Count what statements cost as a database grows: copies of matches in bulk, and what databases count."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Integer, insert, literal, select, text
from sqlalchemy.orm import Session

from referee.matches.tables import DealGroup, StoredMatch
from tests.database.world import World


def copy_match(world: World, match_id: str, count: int) -> None:
    """Add copies of a match, without its seats, each with a copy of its deal group."""
    with world.database.write() as session:
        match = session.get_one(StoredMatch, match_id)
        for table, key in ((DealGroup, match.group_id), (StoredMatch, match_id)):
            numbers = select(literal(1, Integer).label("n")).cte("numbers", recursive=True)
            numbers = numbers.union_all(select(numbers.c.n + 1).where(numbers.c.n < count))
            source = table.__table__
            new_id = literal(f"copy_{count}_").op("||")(numbers.c.n)
            columns: dict[str, Any] = {one.name: one for one in source.c} | {"id": new_id}
            if table is StoredMatch:
                columns["group_id"] = new_id
            copied = select(*columns.values()).select_from(numbers.join(source, source.c.id == key))
            session.execute(insert(source).from_select(list(columns), copied))


def cost_of(world: World, query: Callable[[Session], object]) -> int:
    """Return the number of instructions of SQLite, or of rows that PostgreSQL reads, for ``query``."""
    if world.database.url.get_backend_name() == "sqlite":
        return steps_of(world, query)
    read = text("SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables")
    with world.database.read() as session:
        before = session.scalar(read)
        query(session)
        return int(session.scalar(read) or 0) - int(before or 0)


def steps_of(world: World, query: Callable[[Session], object]) -> int:
    """Return the number of instructions that SQLite executes for ``query``, which may write: all is rolled back."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    for _ in range(2):  # what is read once for each connection is not counted
        steps = 0
        with world.undoing() as session:
            driver: Any = session.connection().connection.dbapi_connection
            driver.set_progress_handler(count, 1)
            try:
                query(session)
            finally:
                driver.set_progress_handler(None, 0)
    return steps
