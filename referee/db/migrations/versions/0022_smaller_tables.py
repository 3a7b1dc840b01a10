"""The smallest number of seats at a table of a tournament. Existing tournaments keep tables of one size."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tournaments", sa.Column("min_seats", sa.Integer(), nullable=False, server_default="0"))
    op.execute("UPDATE tournaments SET min_seats = seats")


def downgrade() -> None:
    raise NotImplementedError("pairings at tables of two sizes would be lost; restore a backup")
