"""Rating rules by ledger entry, with the facts that rules 2 need. Existing entries follow rules 1."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

ID = sa.String(length=40)
STATES = ("ratings", "rating_changes")  # both hold whole states of bots


def upgrade() -> None:
    _add_number("ledger_entries", "rating_rules", sa.Integer(), default="1")
    _add_number("ladders", "exchange_day", sa.Integer())
    for facts in ("owners", "versions", "anchors"):
        op.add_column("results", sa.Column(facts, sa.JSON()))
    for table in STATES:
        _add_number(table, "balance", sa.BigInteger())
        _add_number(table, "widened_at", sa.Integer())
        op.add_column(table, sa.Column("version", sa.String(length=128)))
        _add_number(table, "last_day", sa.Integer())
    op.create_table(
        "daily_exchanges",
        sa.Column("ladder_id", ID, nullable=False),
        sa.Column("party", ID, nullable=False),
        sa.Column("owner_id", ID, nullable=False),
        sa.Column("gain", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_daily_exchanges_ladder_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["accounts.id"], name=op.f("fk_daily_exchanges_owner_id")),
        sa.PrimaryKeyConstraint("ladder_id", "party", "owner_id", name=op.f("pk_daily_exchanges")),
    )


def _add_number(table: str, name: str, kind: sa.Integer, default: str = "0") -> None:
    op.add_column(table, sa.Column(name, kind, nullable=False, server_default=default))


def downgrade() -> None:
    raise NotImplementedError("entries of rating rules 2 could not be refolded; restore a backup")
