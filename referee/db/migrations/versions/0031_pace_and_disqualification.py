"""A pace of rounds, disqualified entries, and since when and why a substitute plays."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tournaments", sa.Column("round_minutes", sa.Integer(), nullable=True))
    op.add_column("tournament_rounds", sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("tournament_entries", sa.Column("disqualified_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("tournament_entries", sa.Column("disqualification_reason", sa.Text(), nullable=True))
    op.add_column("tournament_entries", sa.Column("substituted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("tournament_entries", sa.Column("substitution_code", sa.String(length=40), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("decisions of organisers would be lost; restore a backup")
