"""When the log of a match on an official ladder was deleted. Logs of before are kept until their time is over."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

KEPT = sa.text("ladder_id IS NOT NULL AND log_deleted_at IS NULL")


def upgrade() -> None:
    op.add_column("matches", sa.Column("log_deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_matches_kept_logs", "matches", ["finished_at"], sqlite_where=KEPT, postgresql_where=KEPT)


def downgrade() -> None:
    raise NotImplementedError("it would not be known which logs were deleted; restore a backup")
