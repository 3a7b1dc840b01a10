"""When the events of recorded rows are shown."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("log_rows", sa.Column("delays_ms", sa.JSON(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
