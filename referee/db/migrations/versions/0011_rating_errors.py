"""Errors of ratings, which the scheduler computes. It starts with those of all ladders."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

ID = sa.String(length=40)


def upgrade() -> None:
    op.add_column("ladders", sa.Column("errors_seq", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_table(
        "rating_errors",
        sa.Column("ladder_id", ID, nullable=False),
        sa.Column("bot_id", ID, nullable=False),
        sa.Column("error", sa.Double(), nullable=False),
        sa.Column("as_of_seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_rating_errors_bot_id")),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_rating_errors_ladder_id")),
        sa.PrimaryKeyConstraint("ladder_id", "bot_id", name=op.f("pk_rating_errors")),
    )


def downgrade() -> None:
    raise NotImplementedError("the errors of ratings would be lost; restore a backup")
