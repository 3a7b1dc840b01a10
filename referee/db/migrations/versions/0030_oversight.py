"""Requests for the role of an organiser, co-organisers, suspended accounts, and the list of acts."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

FORBIDDEN = "the list of acts is append-only"


def upgrade() -> None:
    op.add_column("accounts", sa.Column("suspended_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("accounts", sa.Column("suspension_reason", sa.Text(), nullable=True))
    op.create_table(
        "organiser_requests",
        sa.Column("account_id", sa.String(length=40), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("refused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_organiser_requests_account_id")),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_organiser_requests")),
    )
    op.create_table(
        "tournament_organisers",
        sa.Column("tournament_id", sa.String(length=40), nullable=False),
        sa.Column("account_id", sa.String(length=40), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_tournament_organisers_account_id")),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name=op.f("fk_tournament_organisers_tournament_id")
        ),
        sa.PrimaryKeyConstraint("tournament_id", "account_id", name=op.f("pk_tournament_organisers")),
    )
    op.create_index(op.f("ix_tournament_organisers_account_id"), "tournament_organisers", ["account_id"])
    _create_acts()


def _create_acts() -> None:
    op.create_table(
        "acts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("account_id", sa.String(length=40), nullable=True),
        sa.Column("account_name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("object_id", sa.String(length=40), nullable=False),
        sa.Column("tournament_id", sa.String(length=40), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_acts_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_acts")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_acts_account_id"), "acts", ["account_id"])
    op.create_index(op.f("ix_acts_tournament_id_id"), "acts", ["tournament_id", "id"])
    if op.get_bind().dialect.name == "sqlite":
        for verb in ("UPDATE", "DELETE"):
            refusal = f"BEGIN SELECT RAISE(ABORT, '{FORBIDDEN}'); END"
            op.execute(f"CREATE TRIGGER acts_{verb.lower()} BEFORE {verb} ON acts {refusal}")
    else:
        op.execute(
            "CREATE FUNCTION refuse_change_of_acts() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{FORBIDDEN}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER acts_change BEFORE UPDATE OR DELETE ON acts "
            "FOR EACH ROW EXECUTE FUNCTION refuse_change_of_acts()"
        )


def downgrade() -> None:
    raise NotImplementedError("who did what would be lost; restore a backup")
