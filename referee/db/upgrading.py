"""Upgrade the schema with the migrations of the package, in one transaction."""

from pathlib import Path

from alembic import command
from alembic.config import Config

from referee.db import revisions
from referee.db.engine import Database


def upgrade(database: Database, *, migrations: Path = revisions.MIGRATIONS) -> None:
    """Upgrade the schema to the newest revision in one transaction. Do nothing if it has that revision already.

    Raise ``WrongSchema`` if this program does not know the schema, or if the file is damaged.
    """
    config = configuration(migrations)
    with revisions.translate_damage(database), database.migration_connection() as connection:
        found = revisions.read_revision_from(connection)
        if found is not None:
            revisions.require_known(found, migrations)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def configuration(migrations: Path = revisions.MIGRATIONS) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    return config
