"""Official ladders, their members, and the names of ladders. The owners of existing bots are asked before these join.

Ladders have provisional names until the service, which knows its official ladders, names them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

ID = sa.String(length=40)
JOINED = sa.text("due_at IS NOT NULL")


def upgrade() -> None:
    _extend_ladders()
    # Without a foreign key: adding one would rebuild the table, the largest with the logs, on SQLite.
    op.add_column("matches", sa.Column("ladder_id", ID))
    op.create_table(
        "ladder_players",
        sa.Column("bot_id", ID, nullable=False),
        sa.Column("play", sa.String(length=40), nullable=False),
        sa.Column("games", sa.JSON()),
        sa.Column("daily_maximum", sa.Integer()),
        sa.Column("match_id", ID),
        sa.CheckConstraint("play IN ('asked', 'on', 'off')", name=op.f("ck_ladder_players_play")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_ladder_players_bot_id"),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_ladder_players_match_id"),
        sa.PrimaryKeyConstraint("bot_id", name="pk_ladder_players"),
    )
    op.create_table(
        "ladder_members",
        sa.Column("bot_id", ID, nullable=False),
        sa.Column("ladder_id", ID, nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True)),
        sa.Column("last_match_at", sa.DateTime(timezone=True)),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date()),
        sa.Column("matches_of_day", sa.Integer(), nullable=False),
        sa.Column("matches_since_house", sa.Integer(), nullable=False),
        sa.Column("seat_counts", sa.JSON(), nullable=False),
        sa.Column("recent_opponents", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_ladder_members_bot_id"),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name="fk_ladder_members_ladder_id"),
        sa.PrimaryKeyConstraint("bot_id", "ladder_id", name="pk_ladder_members"),
    )
    for name, columns in {
        "ix_ladder_members_ladder_due": ["ladder_id", "due_at"],
        "ix_ladder_members_due": ["due_at", "ladder_id"],
    }.items():
        op.create_index(name, "ladder_members", columns, sqlite_where=JOINED, postgresql_where=JOINED)
    op.execute(
        "INSERT INTO ladder_players (bot_id, play)"
        " SELECT id, 'asked' FROM bots WHERE status NOT IN ('house', 'retired')"
    )


def _extend_ladders() -> None:
    with op.batch_alter_table("ladders") as ladders:
        ladders.add_column(sa.Column("name", sa.String(length=400)))
        ladders.add_column(sa.Column("official", sa.Boolean(), nullable=False, server_default=sa.false()))
        ladders.add_column(sa.Column("daily_matches", sa.Integer()))
    op.execute("UPDATE ladders SET name = id")
    with op.batch_alter_table("ladders") as ladders:
        ladders.alter_column("name", existing_type=sa.String(length=400), nullable=False)
        ladders.alter_column("official", existing_type=sa.Boolean(), existing_nullable=False, server_default=None)
        ladders.create_unique_constraint("uq_ladders_name", ["name"])


def downgrade() -> None:
    raise NotImplementedError("earlier versions do not know official ladders; restore a backup")
