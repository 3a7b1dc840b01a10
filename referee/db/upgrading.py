"""Upgrade the schemas of the service and its extras with their migrations, in one transaction."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import MetaData

from referee import plugs
from referee.db import revisions
from referee.db.engine import Database


def upgrade(database: Database, *, migrations: Path = revisions.MIGRATIONS) -> None:
    """Upgrade the schemas to the newest revisions in one transaction. Do nothing if they have those already.

    Tables of extras that are not installed stay as they are. Raise ``WrongSchema`` if this program does not know a
    schema, or if the file is damaged.
    """
    configs = [configuration(migrations), *map(configuration_of_extra, revisions.list_extra_schemas())]
    with revisions.translate_damage(database), database.migration_connection() as connection:
        found = revisions.read_revision_from(connection)
        if found is not None:
            revisions.require_known(found, migrations)
            revisions.list_outdated_extras(connection)  # raises ``WrongSchema`` if one is too new
        for config in configs:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def configuration(migrations: Path = revisions.MIGRATIONS) -> Config:
    return _configuration(migrations, migrations / "versions", revisions.VERSION_TABLE, None)


def configuration_of_extra(schema: revisions.ExtraSchema) -> Config:
    return _configuration(revisions.MIGRATIONS, schema.migrations, schema.version_table, plugs.load(schema.metadata))


def _configuration(script: Path, versions: Path, version_table: str, metadata: MetaData | None) -> Config:
    config = Config()
    for name, path in (("script_location", script), ("version_locations", versions)):
        config.set_main_option(name, str(path).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")  # paths may have any other character
    config.attributes |= {"version_table": version_table, "metadata": metadata}
    return config
