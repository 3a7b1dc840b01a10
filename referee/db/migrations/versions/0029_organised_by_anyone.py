"""What a tournament says about itself, and who may enter it. Existing tournaments are listed and open to everyone."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in ("description", "link", "contact", "prizes"):
        op.add_column("tournaments", sa.Column(column, sa.Text(), nullable=True))
    op.add_column("tournaments", sa.Column("listed", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.add_column("tournaments", sa.Column("approval", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("tournaments", sa.Column("max_entries", sa.Integer(), nullable=True))
    op.add_column("tournaments", sa.Column("min_entries", sa.Integer(), nullable=True))
    op.add_column("tournaments", sa.Column("entries_close_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("tournaments", sa.Column("join_code", sa.String(length=64), nullable=True))
    op.add_column("matches", sa.Column("listed", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.create_table(
        "tournament_guests",
        sa.Column("tournament_id", sa.String(length=40), nullable=False),
        sa.Column("account_id", sa.String(length=40), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_tournament_guests_account_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name=op.f("fk_tournament_guests_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "account_id", name=op.f("pk_tournament_guests")),
    )
    op.create_index(op.f("ix_tournament_guests_account_id"), "tournament_guests", ["account_id"])
    op.create_table(
        "entry_requests",
        sa.Column("tournament_id", sa.String(length=40), nullable=False),
        sa.Column("bot_id", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("refused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_entry_requests_bot_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name=op.f("fk_entry_requests_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "bot_id", name=op.f("pk_entry_requests")),
    )
    op.create_index(op.f("ix_entry_requests_bot_id"), "entry_requests", ["bot_id"])


def downgrade() -> None:
    raise NotImplementedError("what organisers wrote and decided would be lost; restore a backup")
