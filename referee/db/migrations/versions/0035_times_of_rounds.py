"""Times at which the rounds of a tournament begin."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tournaments", sa.Column("round_times", sa.JSON(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("decisions of organisers would be lost; restore a backup")
