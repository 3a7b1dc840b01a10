"""Preview pictures of pages, which are drawn when they are asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pictures",
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("subject_id", sa.String(40), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("compared_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("is_settled", sa.Boolean(), nullable=False),
        sa.Column("content_digest", sa.String(64), nullable=True),
        sa.Column("png", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("kind", "subject_id", name=op.f("pk_pictures")),
        sa.CheckConstraint("kind IN ('match', 'bot', 'tournament', 'ladder')", name=op.f("ck_pictures_kind")),
    )
    op.create_index("ix_pictures_requested_at", "pictures", ["requested_at"])
    op.create_index("ix_pictures_compared_at", "pictures", ["compared_at"])


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
