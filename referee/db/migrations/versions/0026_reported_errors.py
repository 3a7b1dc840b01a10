"""Errors that bots report of their own code."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

ID = sa.String(length=40)


def upgrade() -> None:
    op.create_table(
        "reported_errors",
        sa.Column("match_id", ID, nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("bot_id", ID, nullable=False),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_reported_errors_match_id")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_reported_errors_bot_id")),
        sa.PrimaryKeyConstraint("match_id", "seat", name=op.f("pk_reported_errors")),
    )
    op.create_index(op.f("ix_reported_errors_bot_id_match_id"), "reported_errors", ["bot_id", "match_id"])


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
