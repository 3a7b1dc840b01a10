"""Run migrations inside the transaction that ``upgrading`` opened."""

from alembic import context

from referee.schema import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite cannot alter tables in place
    compare_type=True,
    transactional_ddl=True,
)
context.run_migrations()
