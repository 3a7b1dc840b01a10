"""All tables of retention, as the models declare them.

Until the first release a change of the schema changes the models alone, as for the tables of the service.
"""

from alembic import op

from referee_extras.retention.tables import RetentionTable

revision = "1001"
down_revision = None


def upgrade() -> None:
    RetentionTable.metadata.create_all(op.get_bind())
