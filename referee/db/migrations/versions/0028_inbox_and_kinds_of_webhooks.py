"""Inboxes of accounts, and kinds of webhooks. Existing webhooks are signed."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

ID = sa.String(length=40)


def upgrade() -> None:
    op.add_column("webhooks", sa.Column("kind", ID, nullable=False, server_default="signed"))
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "inbox_entries",
        sa.Column("id", ID, nullable=False),
        sa.Column("account_id", ID, nullable=False),
        sa.Column("event", ID, nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("read_at", moment, nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_inbox_entries_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_inbox_entries")),
    )
    op.create_index(op.f("ix_inbox_entries_created_at"), "inbox_entries", ["created_at"])
    op.create_index(
        op.f("ix_inbox_entries_account_id_created_at_id"), "inbox_entries", ["account_id", "created_at", "id"]
    )


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
