"""The schema brought up to date by the migrations in the package: all of them or none."""

from pathlib import Path

from alembic import command
from alembic.config import Config

from referee.db import revisions
from referee.db.engine import Database


def upgrade(database: Database, *, to: str = "head", migrations: Path = revisions.MIGRATIONS) -> None:
    """Upgrade the schema to a revision in one transaction; do nothing if it has that revision already.

    Raise ``WrongSchema`` if the schema is newer than this program, or if the file is damaged.
    """
    config = configuration(migrations)
    with revisions.refusing_damaged(database), database.changing_schema() as connection:
        found = revisions.revision_at(connection)
        if found is not None:
            revisions.refuse_newer(found, migrations)
        config.attributes["connection"] = connection
        command.upgrade(config, to)


def configuration(migrations: Path = revisions.MIGRATIONS) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    return config
