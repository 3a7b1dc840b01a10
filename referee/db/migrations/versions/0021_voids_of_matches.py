"""Voids of ended matches and their proposals. Those of before are listed with the account that made them, if known."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

ID = sa.String(length=40)
STATES = "'proposed', 'confirmed', 'declined', 'withdrawn', 'superseded'"
EARLIER = """
    INSERT INTO match_voids (id, match_id, tournament_id, whole_group, rematch, reason, state,
        proposed_by, created_at, decided_by, decided_at)
    SELECT 'vod_' || substr(matches.id, 5), matches.id, matches.tournament_id, :no, NULL,
        COALESCE(matches.reason, ledger_entries.reason, 'unknown'), 'confirmed', ledger_entries.created_by,
        COALESCE(ledger_entries.created_at, results.finished_at), ledger_entries.created_by,
        COALESCE(ledger_entries.created_at, results.finished_at)
    FROM matches JOIN results ON results.match_id = matches.id
    LEFT JOIN ledger_entries ON ledger_entries.match_id = matches.id AND ledger_entries.kind = 'void'
    WHERE matches.status = 'void'
"""


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "match_voids",
        sa.Column("id", ID, nullable=False),
        sa.Column("match_id", ID, nullable=False),
        sa.Column("tournament_id", ID, nullable=True),
        sa.Column("whole_group", sa.Boolean(), nullable=False),
        sa.Column("rematch", sa.Boolean(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=40), nullable=False),
        sa.Column("proposed_by", ID, nullable=True),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("decided_by", ID, nullable=True),
        sa.Column("decided_at", moment, nullable=True),
        sa.CheckConstraint(f"state IN ({STATES})", name=op.f("ck_match_voids_state")),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_match_voids_{column}"))
            for column, table in (
                ("match_id", "matches"),
                ("tournament_id", "tournaments"),
                ("proposed_by", "accounts"),
                ("decided_by", "accounts"),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_match_voids")),
    )
    op.create_index(op.f("ix_match_voids_match_id"), "match_voids", ["match_id"])
    op.create_index(
        op.f("ix_match_voids_tournament_id_created_at_id"), "match_voids", ["tournament_id", "created_at", "id"]
    )
    op.create_index(op.f("ix_match_voids_created_at_id"), "match_voids", ["created_at", "id"])
    proposed = sa.text("state = 'proposed'")
    op.create_index(
        "ix_match_voids_proposed",
        "match_voids",
        ["match_id"],
        unique=True,
        sqlite_where=proposed,
        postgresql_where=proposed,
    )
    op.get_bind().execute(sa.text(EARLIER), {"no": False})


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
