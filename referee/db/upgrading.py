"""Upgrade the schema with the migrations of the package, in one transaction."""

from collections.abc import Callable
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy.orm import Session

from referee.db import revisions
from referee.db.engine import Database


def upgrade(
    database: Database,
    *,
    to: str = "head",
    migrations: Path = revisions.MIGRATIONS,
    settle: Callable[[Session], object] | None = None,
) -> None:
    """Upgrade the schema to a revision in one transaction. Do nothing if it has that revision already.

    ``settle`` ends, in the same transaction and with the new schema, the matches in progress that cannot continue under
    this version. Without it, raise ``MatchesInProgress`` if there are such matches. Raise ``WrongSchema`` if the schema
    is newer than this program, or if the file is damaged.
    """
    config = configuration(migrations)
    with revisions.translate_damage(database), database.migration_connection() as connection:
        found = revisions.read_revision_from(connection)
        if found is not None:
            revisions.refuse_newer(found, migrations)
        config.attributes |= {"connection": connection, "settles": settle is not None}
        command.upgrade(config, to)
        if settle is not None and revisions.read_revision_from(connection) != found:
            with Session(connection, expire_on_commit=False) as session:
                session.info["database"] = database
                settle(session)
                session.flush()


def configuration(migrations: Path = revisions.MIGRATIONS) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    return config
