"""The number of bots that an owner may enter in a tournament. Existing tournaments keep having no limit."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tournaments", sa.Column("bots_per_owner", sa.Integer(), nullable=False, server_default="1000"))


def downgrade() -> None:
    raise NotImplementedError("the limits of tournaments would be lost; restore a backup")
