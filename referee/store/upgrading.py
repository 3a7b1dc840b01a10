"""The schema brought up to date by the migrations in the package: all of them or none."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from referee.store.db import Database

MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(database: Database, *, to: str = "head", migrations: Path = MIGRATIONS) -> None:
    """Brings the schema to a revision, in one transaction; does nothing where it is there already."""
    config = configuration(migrations)
    with database.changing_schema() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, to)


def revision(database: Database) -> str | None:
    """The revision of the schema; None before the first."""
    with database.changing_schema() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def newest() -> str | None:
    """The revision this program needs."""
    return ScriptDirectory.from_config(configuration()).get_current_head()


def configuration(migrations: Path = MIGRATIONS) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    return config
