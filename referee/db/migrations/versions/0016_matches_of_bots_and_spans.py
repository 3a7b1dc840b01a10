"""Indexes by which matches of a bot, matches that two bots have in common, and results of a span of time are found."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_match_seats_bot_id_match_id", "match_seats", ["bot_id", "match_id"])
    op.drop_index("ix_match_seats_bot_id", "match_seats")
    op.create_index("ix_results_finished_at", "results", ["finished_at"])


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
