"""Rules by which logs were deleted, pruning runs, the use of the disk, and the ends of keys."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

LADDER_RULE = "logs of official ladders are kept for a limited time"
matches = sa.table("matches", sa.column("log_deleted_at"), sa.column("log_deleted_rule"))


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.add_column("matches", sa.Column("log_deleted_rule", sa.String(length=128), nullable=True))
    op.execute(matches.update().where(matches.c.log_deleted_at.is_not(None)).values(log_deleted_rule=LADDER_RULE))
    op.add_column("signing_keys", sa.Column("ended_at", moment, nullable=True))
    op.add_column("signing_keys", sa.Column("last_number", sa.BigInteger(), nullable=True))
    op.add_column("audit_runs", sa.Column("not_replayable", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "retention_runs",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("runner", sa.String(length=32), nullable=False),
        sa.Column("started_at", moment, nullable=False),
        sa.Column("updated_at", moment, nullable=False),
        sa.Column("finished_at", moment, nullable=True),
        sa.Column("deleted", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_retention_runs")),
    )
    op.create_table(
        "disk_uses",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("measured_at", moment, nullable=False),
        sa.Column("database_bytes", sa.BigInteger(), nullable=False),
        sa.Column("free_bytes", sa.BigInteger(), nullable=False),
        sa.Column("parts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_disk_uses")),
    )


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
