"""The chain of signatures of logs, and the public keys that made them."""

import sqlalchemy as sa
from alembic import op

from referee.db.base import UtcTime

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "signing_keys",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("public_key", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_signing_keys")),
    )
    op.create_table(
        "signed_logs",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("match_id", sa.String(length=40), nullable=False),
        sa.Column("log_digest", sa.String(length=64), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=True),
        sa.Column("key_id", sa.String(length=16), nullable=False),
        sa.Column("signature", sa.String(length=128), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_signed_logs_match_id")),
        sa.ForeignKeyConstraint(["key_id"], ["signing_keys.id"], name=op.f("fk_signed_logs_key_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_signed_logs")),
        sa.UniqueConstraint("match_id", name=op.f("uq_signed_logs_match_id")),
    )


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
