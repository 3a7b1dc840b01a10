"""The number of results of each ladder, which pages no longer count."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("ladders", sa.Column("results", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute("UPDATE ladders SET results = (SELECT count(*) FROM results WHERE results.ladder_id = ladders.id)")


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
