"""What a tournament says about itself: a text, a link, a contact and the prizes."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in ("description", "link", "contact", "prizes"):
        op.add_column("tournaments", sa.Column(column, sa.Text(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("what organisers wrote would be lost; restore a backup")
