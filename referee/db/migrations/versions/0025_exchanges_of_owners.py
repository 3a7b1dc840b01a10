"""Meetings of bots with other owners today, and what owners exchanged in each month, from the next result on."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

ID = sa.String(length=40)
TABLE = "owner_exchanges"


def upgrade() -> None:
    op.add_column("ladder_members", sa.Column("owners_met", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("ladders", sa.Column("exchanges_after", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute("UPDATE ladders SET exchanges_after = COALESCE((SELECT max(seq) FROM ledger_entries), 0)")
    op.create_table(
        TABLE,
        sa.Column("ladder_id", ID, nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("party", ID, nullable=False),
        sa.Column("owner_id", ID, nullable=False),
        sa.Column("encounters", sa.Integer(), nullable=False),
        sa.Column("gain", sa.BigInteger(), nullable=False),
        sa.Column("variance", sa.BigInteger(), nullable=False),
        sa.Column("excess", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f(f"fk_{TABLE}_ladder_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["accounts.id"], name=op.f(f"fk_{TABLE}_owner_id")),
        sa.PrimaryKeyConstraint("ladder_id", "month", "party", "owner_id", name=op.f(f"pk_{TABLE}")),
    )
    op.create_index(
        "ix_owner_exchanges_excess", TABLE, ["ladder_id", "month", sa.text("excess DESC"), "party", "owner_id"]
    )


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
