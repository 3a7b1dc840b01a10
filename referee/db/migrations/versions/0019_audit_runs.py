"""Nightly audits and what they found."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "audit_runs",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("started_at", moment, nullable=False),
        sa.Column("updated_at", moment, nullable=False),
        sa.Column("finished_at", moment, nullable=True),
        sa.Column("after", sa.String(length=40), nullable=False),
        sa.Column("logs", sa.Integer(), nullable=False),
        sa.Column("differences", sa.Integer(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_audit_runs")),
    )


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
