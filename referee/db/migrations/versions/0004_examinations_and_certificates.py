"""Examinations of bots and the certificates that come of them. Bots that play already are due to be examined."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ID = sa.String(length=40)
WORD = sa.String(length=40)
TIME = sa.DateTime(timezone=True)
VERSION = sa.String(length=128)


def upgrade() -> None:
    op.create_table(
        "examinations",
        sa.Column("bot_id", ID, nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("wanted", sa.Boolean(), nullable=False),
        sa.Column("due_at", TIME),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("lost", sa.Integer(), nullable=False),
        sa.Column("lease_boot", sa.String(length=64)),
        sa.Column("lease_until", sa.Double()),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("what", WORD, nullable=False),
        sa.Column("version", VERSION),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("report", sa.JSON()),
        sa.Column("ended_at", TIME),
        sa.Column("excused_before", TIME),
        sa.CheckConstraint("state IN ('idle', 'due', 'running')", name=op.f("ck_examinations_state")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_examinations_bot_id"),
        sa.PrimaryKeyConstraint("bot_id", name="pk_examinations"),
    )
    op.create_index("ix_examinations_state_due_at", "examinations", ["state", "due_at"])
    op.create_table(
        "certificates",
        sa.Column("id", ID, nullable=False),
        sa.Column("bot_id", ID, nullable=False),
        sa.Column("version", VERSION, nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("engine_version", WORD, nullable=False),
        sa.Column("protocol", WORD, nullable=False),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("issued_at", TIME, nullable=False),
        sa.Column("ended_at", TIME),
        sa.Column("ended_reason", WORD),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_certificates_bot_id"),
        sa.PrimaryKeyConstraint("id", name="pk_certificates"),
    )
    op.create_index("ix_certificates_bot_id_version", "certificates", ["bot_id", "version"])
    op.create_index("ix_certificates_bot_id_issued_at_id", "certificates", ["bot_id", "issued_at", "id"])
    _make_due()


def _make_due() -> None:
    """Whose address is proven is examined; rated events that began before go on with whoever is in them."""
    moment = datetime.now(UTC)
    kept = sa.text(
        "INSERT INTO examinations"
        " (bot_id, state, wanted, due_at, epoch, lost, asked, planned, what, rules, excused_before)"
        " SELECT id, CASE WHEN status IN ('verified', 'paused') THEN 'due' ELSE 'idle' END,"
        " :no, CASE WHEN status IN ('verified', 'paused') THEN :moment END, 0, 0, 0, 0, '', '{}', :moment"
        " FROM bots WHERE status NOT IN ('house', 'retired')"
    )
    op.get_bind().execute(kept.bindparams(sa.bindparam("no", False), sa.bindparam("moment", moment, type_=TIME)))


def downgrade() -> None:
    raise NotImplementedError("certificates would be lost; restore a backup")
