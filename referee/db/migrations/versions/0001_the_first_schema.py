"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("name_key", sa.String(length=128), nullable=False),
        sa.Column("role", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("role IN ('owner', 'organiser', 'admin')", name=op.f("ck_accounts_role")),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("name_key", name="uq_accounts_name_key"),
    )
    op.create_table(
        "idempotency",
        sa.Column("account_id", sa.String(length=64), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("body_hash", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "key", name="pk_idempotency"),
    )
    op.create_index("ix_idempotency_created_at", "idempotency", ["created_at"])

    op.create_table(
        "ladders",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("options_key", sa.String(length=64), nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ladders"),
        sa.UniqueConstraint("game", "options_key", "seats", name="uq_ladders_game_options_key_seats"),
    )
    op.create_table(
        "bots",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("owner_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("name_key", sa.String(length=128), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("proven_url", sa.String(length=2048), nullable=True),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("status", sa.String(length=40), nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=True),
        sa.Column("version", sa.String(length=128), nullable=True),
        sa.Column("games", sa.JSON(), nullable=False),
        sa.Column("max_calls", sa.Integer(), nullable=False),
        sa.Column("secret_generation", sa.Integer(), nullable=False),
        sa.Column("previous_secret_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("check_state", sa.String(length=40), nullable=False),
        sa.Column("check_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("check_epoch", sa.Integer(), nullable=False),
        sa.Column("checks_lost", sa.Integer(), nullable=False),
        sa.Column("check_report", sa.JSON(), nullable=True),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_boot", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.CheckConstraint("check_state IN ('idle', 'due', 'running')", name=op.f("ck_bots_check_state")),
        sa.CheckConstraint("status IN ('unverified', 'verified', 'paused', 'retired')", name=op.f("ck_bots_status")),
        sa.ForeignKeyConstraint(["owner_id"], ["accounts.id"], name="fk_bots_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_bots"),
        sa.UniqueConstraint("name_key", name="uq_bots_name_key"),
    )
    op.create_index("ix_bots_check_state_check_due_at", "bots", ["check_state", "check_due_at"])
    op.create_index("ix_bots_created_at", "bots", ["created_at"])
    op.create_index("ix_bots_host", "bots", ["host"])
    op.create_index("ix_bots_owner_id", "bots", ["owner_id"])

    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("account_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("hint", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_tokens_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("sha256", name="uq_tokens_sha256"),
    )
    op.create_index("ix_tokens_account_id", "tokens", ["account_id"])

    op.create_table(
        "tournaments",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("format", sa.String(length=40), nullable=False),
        sa.Column("cycles", sa.Integer(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("budget_ms", sa.Integer(), nullable=False),
        sa.Column("bank_ms", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=40), nullable=False),
        sa.Column("created_by", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "status IN ('draft', 'open', 'running', 'paused', 'finished', 'cancelled')",
            name=op.f("ck_tournaments_status"),
        ),
        sa.ForeignKeyConstraint(["created_by"], ["accounts.id"], name="fk_tournaments_created_by"),
        sa.PrimaryKeyConstraint("id", name="pk_tournaments"),
    )
    op.create_index("ix_tournaments_created_at_id", "tournaments", ["created_at", "id"])
    op.create_index("ix_tournaments_created_by", "tournaments", ["created_by"])
    op.create_index("ix_tournaments_status", "tournaments", ["status"])

    op.create_table(
        "deal_groups",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("commitment", sa.String(length=64), nullable=False),
        sa.Column("seed_sealed", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.String(length=40), nullable=False),
        sa.Column("entries", sa.JSON(), nullable=False),
        sa.Column("nonce_hashes", sa.JSON(), nullable=True),
        sa.Column("nonces", sa.JSON(), nullable=True),
        sa.Column("tournament_id", sa.String(length=40), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("lease_boot", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("state IN ('new', 'open', 'over')", name=op.f("ck_deal_groups_state")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_deal_groups_tournament_id"),
        sa.PrimaryKeyConstraint("id", name="pk_deal_groups"),
    )
    op.create_index("ix_deal_groups_state", "deal_groups", ["state"])
    op.create_index("ix_deal_groups_tournament_id", "deal_groups", ["tournament_id"])

    op.create_table(
        "ratings",
        sa.Column("ladder_id", sa.String(length=40), nullable=False),
        sa.Column("bot_id", sa.String(length=40), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("as_of_seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_ratings_bot_id"),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name="fk_ratings_ladder_id"),
        sa.PrimaryKeyConstraint("ladder_id", "bot_id", name="pk_ratings"),
    )
    op.create_index("ix_ratings_bot_id", "ratings", ["bot_id"])
    op.create_index(
        "ix_ratings_ladder_id_value_bot_id", "ratings", ["ladder_id", sa.literal_column("value DESC"), "bot_id"]
    )

    op.create_table(
        "tournament_entries",
        sa.Column("tournament_id", sa.String(length=40), nullable=False),
        sa.Column("bot_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_tournament_entries_bot_id"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_tournament_entries_tournament_id"),
        sa.PrimaryKeyConstraint("tournament_id", "bot_id", name="pk_tournament_entries"),
        sa.UniqueConstraint("tournament_id", "number", name="uq_tournament_entries_tournament_id_number"),
    )
    op.create_index("ix_tournament_entries_bot_id", "tournament_entries", ["bot_id"])

    op.create_table(
        "matches",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("rules_version", sa.Integer(), nullable=False),
        sa.Column("engine_version", sa.String(length=40), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("budget_ms", sa.Integer(), nullable=False),
        sa.Column("bank_ms", sa.Integer(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(length=40), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("lease_boot", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("lost_claims", sa.Integer(), nullable=False),
        sa.Column("claims_without_progress", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.String(length=40), nullable=False),
        sa.Column("tournament_id", sa.String(length=40), nullable=True),
        sa.Column("stage", sa.Integer(), nullable=True),
        sa.Column("table_no", sa.Integer(), nullable=True),
        sa.Column("created_by", sa.String(length=40), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "status IN ('waiting', 'due', 'running', 'finished', 'cancelled', 'stuck', 'void')",
            name=op.f("ck_matches_status"),
        ),
        sa.ForeignKeyConstraint(["created_by"], ["accounts.id"], name="fk_matches_created_by"),
        sa.ForeignKeyConstraint(["group_id"], ["deal_groups.id"], name="fk_matches_group_id"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_matches_tournament_id"),
        sa.PrimaryKeyConstraint("id", name="pk_matches"),
    )
    op.create_index("ix_matches_created_at_id", "matches", ["created_at", "id"])
    op.create_index("ix_matches_created_by", "matches", ["created_by"])
    op.create_index("ix_matches_game", "matches", ["game"])
    op.create_index("ix_matches_group_id", "matches", ["group_id"])
    op.create_index("ix_matches_status_created_at_id", "matches", ["status", "created_at", "id"])
    op.create_index("ix_matches_tournament_id_stage_table_no", "matches", ["tournament_id", "stage", "table_no"])

    op.create_table(
        "faults",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("match_id", sa.String(length=40), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.String(length=40), nullable=False),
        sa.Column("code", sa.String(length=40), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=True),
        sa.Column("reply", sa.LargeBinary(), nullable=True),
        sa.Column("timing", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_faults_bot_id"),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_faults_match_id"),
        sa.PrimaryKeyConstraint("id", name="pk_faults"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_faults_bot_id_id", "faults", ["bot_id", "id"])
    op.create_index("ix_faults_match_id_id", "faults", ["match_id", "id"])

    op.create_table(
        "log_rows",
        sa.Column("match_id", sa.String(length=40), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("line", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_log_rows_match_id"),
        sa.PrimaryKeyConstraint("match_id", "row", name="pk_log_rows"),
    )
    op.create_table(
        "match_logs",
        sa.Column("match_id", sa.String(length=40), nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=False),
        sa.Column("reveal_line", sa.LargeBinary(), nullable=True),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_match_logs_match_id"),
        sa.PrimaryKeyConstraint("match_id", name="pk_match_logs"),
    )
    op.create_table(
        "match_seats",
        sa.Column("match_id", sa.String(length=40), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.String(length=40), nullable=False),
        sa.Column("bot_name", sa.String(length=64), nullable=False),
        sa.Column("version", sa.String(length=128), nullable=True),
        sa.Column("url", sa.String(length=2048), nullable=True),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("placement", sa.Integer(), nullable=True),
        sa.Column("returns", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_match_seats_bot_id"),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_match_seats_match_id"),
        sa.PrimaryKeyConstraint("match_id", "seat", name="pk_match_seats"),
    )
    op.create_index("ix_match_seats_bot_id", "match_seats", ["bot_id"])

    op.create_table(
        "results",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("match_id", sa.String(length=40), nullable=False),
        sa.Column("ladder_id", sa.String(length=40), nullable=True),
        sa.Column("bots", sa.JSON(), nullable=False),
        sa.Column("placements", sa.JSON(), nullable=False),
        sa.Column("returns", sa.JSON(), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("engine_version", sa.String(length=40), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name="fk_results_ladder_id"),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_results_match_id"),
        sa.PrimaryKeyConstraint("seq", name="pk_results"),
        sa.UniqueConstraint("match_id", name="uq_results_match_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_results_ladder_id_seq", "results", ["ladder_id", "seq"])

    op.create_table(
        "sealed_answers",
        sa.Column("match_id", sa.String(length=40), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_sealed_answers_match_id"),
        sa.PrimaryKeyConstraint("match_id", "n", "seat", name="pk_sealed_answers"),
    )
    op.create_table(
        "rating_changes",
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("bot_id", sa.String(length=40), nullable=False),
        sa.Column("ladder_id", sa.String(length=40), nullable=False),
        sa.Column("before", sa.BigInteger(), nullable=False),
        sa.Column("after", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name="fk_rating_changes_bot_id"),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name="fk_rating_changes_ladder_id"),
        sa.ForeignKeyConstraint(["seq"], ["results.seq"], name="fk_rating_changes_seq"),
        sa.PrimaryKeyConstraint("seq", "bot_id", name="pk_rating_changes"),
    )
    op.create_index("ix_rating_changes_ladder_id_bot_id_seq", "rating_changes", ["ladder_id", "bot_id", "seq"])


def downgrade() -> None:
    for table in (
        "rating_changes",
        "sealed_answers",
        "results",
        "match_seats",
        "match_logs",
        "log_rows",
        "faults",
        "matches",
        "tournament_entries",
        "ratings",
        "deal_groups",
        "tournaments",
        "tokens",
        "bots",
        "ladders",
        "idempotency",
        "accounts",
    ):
        op.drop_table(table)
