"""Scopes and expiry of tokens; rules and requests of friendlies. Existing tokens may do everything and never expire."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

ID = sa.String(length=40)


def upgrade() -> None:
    op.add_column("tokens", sa.Column("scopes", sa.JSON(), nullable=False, server_default='["all"]'))
    op.add_column("tokens", sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True))
    _create_rules()
    _create_requests()


def _create_rules() -> None:
    op.create_table(
        "friendly_rules",
        sa.Column("bot_id", ID, nullable=False),
        sa.Column("challengers", ID, nullable=False),
        sa.Column("opens_at", sa.Integer(), nullable=True),
        sa.Column("closes_at", sa.Integer(), nullable=True),
        sa.Column("time_zone", sa.String(length=64), nullable=True),
        sa.CheckConstraint(
            "challengers IN ('anyone', 'on_request', 'listed', 'nobody')", name=op.f("ck_friendly_rules_challengers")
        ),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_friendly_rules_bot_id")),
        sa.PrimaryKeyConstraint("bot_id", name=op.f("pk_friendly_rules")),
    )
    op.create_table(
        "challenger_entries",
        sa.Column("owner_id", ID, nullable=False),
        sa.Column("account_id", ID, nullable=False),
        sa.Column("verdict", ID, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("verdict IN ('accepted', 'blocked')", name=op.f("ck_challenger_entries_verdict")),
        sa.ForeignKeyConstraint(["owner_id"], ["accounts.id"], name=op.f("fk_challenger_entries_owner_id")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_challenger_entries_account_id")),
        sa.PrimaryKeyConstraint("owner_id", "account_id", name=op.f("pk_challenger_entries")),
    )


def _create_requests() -> None:
    moment = sa.DateTime(timezone=True)
    states = "'pending', 'accepted', 'declined', 'withdrawn', 'expired'"
    op.create_table(
        "friendly_requests",
        sa.Column("id", ID, nullable=False),
        sa.Column("created_by", ID, nullable=False),
        sa.Column("game", ID, nullable=False),
        sa.Column("bots", sa.JSON(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("budget_ms", sa.Integer(), nullable=False),
        sa.Column("bank_ms", sa.Integer(), nullable=False),
        sa.Column("state", ID, nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("match_id", ID, nullable=True),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("expires_at", moment, nullable=False),
        sa.Column("decided_at", moment, nullable=True),
        sa.CheckConstraint(f"state IN ({states})", name=op.f("ck_friendly_requests_state")),
        sa.ForeignKeyConstraint(["created_by"], ["accounts.id"], name=op.f("fk_friendly_requests_created_by")),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_friendly_requests_match_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_friendly_requests")),
    )
    op.create_index(op.f("ix_friendly_requests_created_at"), "friendly_requests", ["created_at"])
    op.create_index(
        op.f("ix_friendly_requests_created_by_created_at_id"), "friendly_requests", ["created_by", "created_at", "id"]
    )
    op.create_table(
        "requested_owners",
        sa.Column("request_id", ID, nullable=False),
        sa.Column("owner_id", ID, nullable=False),
        sa.Column("accepted_at", moment, nullable=True),
        sa.ForeignKeyConstraint(["request_id"], ["friendly_requests.id"], name=op.f("fk_requested_owners_request_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["accounts.id"], name=op.f("fk_requested_owners_owner_id")),
        sa.PrimaryKeyConstraint("request_id", "owner_id", name=op.f("pk_requested_owners")),
    )
    op.create_index(op.f("ix_requested_owners_owner_id"), "requested_owners", ["owner_id"])


def downgrade() -> None:
    raise NotImplementedError("an older version has not been tried on this schema; restore a backup")
