"""Scopes and expiry of tokens. Existing tokens may do everything and never expire."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tokens", sa.Column("scopes", sa.JSON(), nullable=False, server_default='["all"]'))
    op.add_column("tokens", sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
