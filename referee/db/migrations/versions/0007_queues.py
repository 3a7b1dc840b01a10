"""Two lists instead of searches: the bots of due matches, for runners, and deal groups to close, for the scheduler."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

ID = sa.String(length=40)
ORDER = ("created_at", "tournament_round", "table_no", "leg", "match_id")
FIRST = sa.text("seat = 0")


def upgrade() -> None:
    op.create_table(
        "queued_seats",
        sa.Column("match_id", ID, nullable=False),
        sa.Column("bot_id", ID, nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("lane", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tournament_round", sa.Integer()),
        sa.Column("table_no", sa.Integer()),
        sa.Column("leg", sa.Integer()),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_queued_seats_match_id"),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_queued_seats_bot_id"),
        sa.PrimaryKeyConstraint("match_id", "bot_id", name="pk_queued_seats"),
    )
    op.create_index("ix_queued_seats_bot", "queued_seats", ["bot_id", "lane", *ORDER])
    op.create_index(
        "ix_queued_seats_lane",
        "queued_seats",
        ["seat", "lane", *ORDER],
        sqlite_where=FIRST,
        postgresql_where=FIRST,
    )
    op.create_table(
        "groups_to_close",
        sa.Column("group_id", ID, nullable=False),
        sa.Column("match_id", ID, nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_groups_to_close_match_id"),
        sa.PrimaryKeyConstraint("group_id", "match_id", name="pk_groups_to_close"),
    )
    op.execute(
        "INSERT INTO queued_seats"
        " (match_id, bot_id, seat, lane, created_at, tournament_round, table_no, leg)"
        " SELECT matches.id, match_seats.bot_id, min(match_seats.seat),"
        " CASE WHEN matches.tournament_id IS NULL AND NOT matches.rated THEN 'friendly:' ELSE 'organised:' END"
        " || coalesce(matches.created_by, ''),"
        " matches.created_at, matches.tournament_round, matches.table_no, matches.leg"
        " FROM matches JOIN match_seats ON match_seats.match_id = matches.id"
        " WHERE matches.status = 'due' GROUP BY matches.id, match_seats.bot_id"
    )


def downgrade() -> None:
    raise NotImplementedError("earlier versions do not keep the list; restore a backup")
