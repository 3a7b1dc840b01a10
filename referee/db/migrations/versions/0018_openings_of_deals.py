"""Openings of deal groups in three steps, openings that ended, and the bots that ended them."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

ID = sa.String(length=40)


def upgrade() -> None:
    op.add_column("deal_groups", sa.Column("accepted", sa.JSON()))
    op.add_column("deal_groups", sa.Column("opening_number", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("deal_groups", sa.Column("left_out", sa.JSON(), nullable=False, server_default="[]"))
    op.add_column("deal_groups", sa.Column("superseded_by", ID))
    superseded = sa.text("superseded_by IS NOT NULL")
    op.create_index(
        "ix_deal_groups_superseded",
        "deal_groups",
        ["superseded_by"],
        sqlite_where=superseded,
        postgresql_where=superseded,
    )
    op.create_table(
        "failed_nonces",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("group_id", ID, nullable=False),
        sa.Column("bot_id", ID, nullable=False),
        sa.Column("code", sa.String(length=40), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("reply", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("code IN ('nonce_withheld', 'nonces_refused')", name=op.f("ck_failed_nonces_code")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_failed_nonces_bot_id")),
        sa.ForeignKeyConstraint(["group_id"], ["deal_groups.id"], name=op.f("fk_failed_nonces_group_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failed_nonces")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_failed_nonces_bot_id_id", "failed_nonces", ["bot_id", "id"])
    op.create_index(op.f("ix_failed_nonces_group_id"), "failed_nonces", ["group_id"])


def downgrade() -> None:
    raise NotImplementedError("logs of the second format cannot be read by an older version; restore a backup")
