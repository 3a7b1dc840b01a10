"""Run migrations of the service or of an extra inside the transaction that ``upgrading`` opened."""

from alembic import context

from referee.schema import Base

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    target_metadata=attributes["metadata"] or Base.metadata,
    version_table=attributes["version_table"],
    render_as_batch=True,  # SQLite cannot alter tables in place
    compare_type=True,
    transactional_ddl=True,
)
context.run_migrations()
