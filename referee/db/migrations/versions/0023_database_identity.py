"""The identity of the database."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    table = op.create_table(
        "installation",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("probe", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_installation")),
    )
    op.bulk_insert(table, [{"number": 1, "id": secrets.token_hex(16), "probe": 0}])


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
