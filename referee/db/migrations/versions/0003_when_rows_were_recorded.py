"""When each row of a match that is being played was recorded."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Rows that are there already have no time: it is not known."""
    op.add_column("log_rows", sa.Column("recorded_at", sa.Double()))


def downgrade() -> None:
    raise NotImplementedError("the times of rows would be lost; restore a backup")
