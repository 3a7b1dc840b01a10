"""Final standings of the months of ladders. The scheduler closes the months that are over, also those of the past."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

ID = sa.String(length=40)
NAME = sa.String(length=64)


def upgrade() -> None:
    op.create_table(
        "ladder_months",
        sa.Column("ladder_id", ID, nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("as_of_seq", sa.BigInteger(), nullable=False),
        sa.Column("bots", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("champion_id", ID, nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["champion_id"], ["bots.id"], name=op.f("fk_ladder_months_champion_id")),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_ladder_months_ladder_id")),
        sa.PrimaryKeyConstraint("ladder_id", "month", name=op.f("pk_ladder_months")),
    )
    op.create_index(op.f("ix_ladder_months_champion_id"), "ladder_months", ["champion_id"])
    op.create_table(
        "ladder_month_rows",
        sa.Column("ladder_id", ID, nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("bot_id", ID, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("owner_id", ID, nullable=False),
        sa.Column("owner_name", NAME, nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Double(), nullable=True),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_ladder_month_rows_bot_id")),
        sa.ForeignKeyConstraint(
            ["ladder_id", "month"],
            ["ladder_months.ladder_id", "ladder_months.month"],
            name=op.f("fk_ladder_month_rows_ladder_id_month"),
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["accounts.id"], name=op.f("fk_ladder_month_rows_owner_id")),
        sa.PrimaryKeyConstraint("ladder_id", "month", "rank", "bot_id", name=op.f("pk_ladder_month_rows")),
    )


def downgrade() -> None:
    raise NotImplementedError("the final standings of months would be lost; restore a backup")
