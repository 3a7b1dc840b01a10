"""Former names of bots and accounts, deleted bots and accounts, and acts without the names of deleted accounts."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

FORBIDDEN = "the list of acts is append-only"
KEPT = ("id", "created_at", "account_id", "kind", "object_id", "tournament_id")
UNNAMED = sa.text("name IS NULL")
ERASING = sa.text("deleted_at IS NOT NULL AND erased_at IS NULL")


def upgrade() -> None:
    op.add_column("accounts", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("bots", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("bots", sa.Column("erased_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_bots_erasing", "bots", ["deleted_at"], sqlite_where=ERASING, postgresql_where=ERASING)
    op.create_table(
        "former_names",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("object_id", sa.String(length=40), nullable=False),
        sa.Column("owner_id", sa.String(length=40), nullable=True),
        sa.Column("name", sa.String(length=64), nullable=True),
        sa.Column("key_digest", sa.String(length=64), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind IN ('account', 'bot')", name=op.f("ck_former_names_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_former_names")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_former_names_kind_key_digest"), "former_names", ["kind", "key_digest"])
    op.create_index(op.f("ix_former_names_object_id_id"), "former_names", ["object_id", "id"])
    op.create_index(
        "ix_former_names_unnamed", "former_names", ["ended_at"], sqlite_where=UNNAMED, postgresql_where=UNNAMED
    )
    _allow_erasure_of_acts()


def _allow_erasure_of_acts() -> None:
    """Let an update change names and reasons of an act that concerns a deleted account or bot, and nothing else."""
    if op.get_bind().dialect.name == "sqlite":
        changed = " OR ".join(f"NEW.{name} IS NOT OLD.{name}" for name in KEPT)
        op.execute("DROP TRIGGER acts_update")
        op.execute(
            f"CREATE TRIGGER acts_update BEFORE UPDATE ON acts WHEN {changed} OR NOT ({_concerns_deleted()}) "
            f"BEGIN SELECT RAISE(ABORT, '{FORBIDDEN}'); END"
        )
        return
    changed = " OR ".join(f"NEW.{name} IS DISTINCT FROM OLD.{name}" for name in KEPT)
    op.execute(
        "CREATE OR REPLACE FUNCTION refuse_change_of_acts() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN IF TG_OP = 'DELETE' THEN RAISE EXCEPTION '{FORBIDDEN}'; END IF; "
        f"IF {changed} OR NOT ({_concerns_deleted()}) THEN RAISE EXCEPTION '{FORBIDDEN}'; END IF; RETURN NEW; END $$"
    )


def _concerns_deleted() -> str:
    deleted = "deleted_at IS NOT NULL AND id IN (OLD.account_id, OLD.object_id)"
    return " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {deleted})" for table in ("accounts", "bots"))  # noqa: S608  # names of tables


def downgrade() -> None:
    raise NotImplementedError("former names would be lost; restore a backup")
