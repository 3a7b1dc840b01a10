"""Series of tournaments, and times at which the rounds of a tournament begin."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tournaments", sa.Column("round_times", sa.JSON(), nullable=True))
    op.create_table(
        "series",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("points", sa.JSON(), nullable=False),
        sa.Column("best", sa.Integer(), nullable=True),
        sa.Column("listed", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["accounts.id"], name="fk_series_created_by"),
        sa.PrimaryKeyConstraint("id", name="pk_series"),
    )
    op.create_index("ix_series_created_at_id", "series", ["created_at", "id"])
    op.create_index("ix_series_created_by", "series", ["created_by"])
    op.create_table(
        "series_tournaments",
        sa.Column("series_id", sa.String(length=40), nullable=False),
        sa.Column("tournament_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name="fk_series_tournaments_series_id"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_series_tournaments_tournament_id"),
        sa.PrimaryKeyConstraint("series_id", "tournament_id", name="pk_series_tournaments"),
    )
    op.create_index("ix_series_tournaments_tournament_id", "series_tournaments", ["tournament_id"])
    op.create_table(
        "series_organisers",
        sa.Column("series_id", sa.String(length=40), nullable=False),
        sa.Column("account_id", sa.String(length=40), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name="fk_series_organisers_series_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_series_organisers_account_id"),
        sa.PrimaryKeyConstraint("series_id", "account_id", name="pk_series_organisers"),
    )
    op.create_index("ix_series_organisers_account_id", "series_organisers", ["account_id"])


def downgrade() -> None:
    raise NotImplementedError("decisions of organisers would be lost; restore a backup")
