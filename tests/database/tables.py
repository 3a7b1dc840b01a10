"""All tables of the service and of its extras."""

from sqlalchemy import MetaData, Table

from referee import plugs
from referee.db.revisions import list_extra_schemas
from referee.schema import Base


def all_metadata() -> list[MetaData]:
    return [Base.metadata, *(plugs.load(schema.metadata) for schema in list_extra_schemas())]


def all_tables() -> list[Table]:
    """Return the tables, each after those that it refers to."""
    return [table for metadata in all_metadata() for table in metadata.sorted_tables]
