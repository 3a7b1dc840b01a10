"""Events of every format, a ledger under the ladders, webhooks."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from alembic.operations import BatchOperations

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ID = sa.String(length=40)
WORD = sa.String(length=40)
TIME = sa.DateTime(timezone=True)
COUNTED = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BAND_POINTS = (1, 64)  # widths of the bands in which ratings are counted

BOT_STATES = ("unverified", "verified", "paused", "retired")
GROUP_KINDS = ("own", "common", "duplicate")
MATCH_INDEXES = (  # name, columns, which rows
    ("ix_matches_due", ["status", "created_by", "created_at", "stage", "table_no", "leg", "id"], "status = 'due'"),
    ("ix_matches_lost", ["status", "lost_claims"], "lost_claims > 1"),
)
PREFLIGHTS = ("none", "asked", "ready", "absent")


def upgrade() -> None:
    _change(
        "bots",
        [sa.Column("sour_matches", sa.Integer(), nullable=False, server_default="0")],
        checks={"status": (*BOT_STATES, "house")},
    )
    _change(
        "deal_groups",
        [sa.Column("kind", WORD, nullable=False, server_default="own")],
        checks={"kind": GROUP_KINDS},
    )
    _change(
        "matches",
        [sa.Column("leg", sa.Integer()), sa.Column("replay_of", ID)],
        keys={"replay_of": "matches"},
    )
    for name, columns, rows in MATCH_INDEXES:
        op.create_index(name, "matches", columns, sqlite_where=sa.text(rows), postgresql_where=sa.text(rows))
    _change(
        "match_seats",
        [sa.Column("entrant_id", ID), sa.Column("rated", sa.Boolean(), nullable=False, server_default=sa.true())],
        keys={"entrant_id": "bots"},
    )
    _change_results()
    _change(
        "tournaments",
        [
            sa.Column("format_options", sa.JSON(), nullable=False, server_default="{}"),
            sa.Column("deals", WORD, nullable=False, server_default="own"),
            sa.Column("orders", WORD, nullable=False, server_default="cyclic"),
            *(
                sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false())
                for name in ("trusted", "open_seats", "late_entry", "frozen_version")
            ),
            sa.Column("stand_in", WORD),
            sa.Column("starts_at", TIME),
            sa.Column("draw", sa.LargeBinary()),
            sa.Column("planned", sa.Integer()),
            sa.Column("preflight_until", TIME),
            sa.Column("status_reason", sa.Text()),
        ],
    )
    _change(
        "tournament_entries",
        [
            sa.Column("seed", sa.Integer()),
            sa.Column("since", sa.Integer(), nullable=False, server_default="1"),
            sa.Column("version", sa.String(length=128)),
            sa.Column("version_changed_at", TIME),
            sa.Column("preflight", WORD, nullable=False, server_default="none"),
            sa.Column("preflight_reason", sa.Text()),
            sa.Column("stand_in_id", ID),
        ],
        checks={"preflight": PREFLIGHTS},
        keys={"stand_in_id": "bots"},
    )
    _make_stages()
    _make_ledger()
    _make_webhooks()


def _change(
    table: str,
    columns: Sequence[sa.Column],  # type: ignore[type-arg]  # columns of several types
    *,
    checks: dict[str, tuple[str, ...]] | None = None,
    keys: dict[str, str] | None = None,
) -> None:
    """Adds columns; ``checks`` are those that are new or hold other words than before."""
    sqlite = op.get_bind().dialect.name == "sqlite"
    with op.batch_alter_table(table, recreate="always" if sqlite else "never") as batch:
        for column in columns:
            batch.add_column(column)
        for name, parent in (keys or {}).items():
            batch.create_foreign_key(op.f(f"fk_{table}_{name}"), parent, [name], ["id"])
        _renew(batch, table, checks or {})


def _renew(batch: BatchOperations, table: str, checks: dict[str, tuple[str, ...]]) -> None:
    known = {check["name"] for check in sa.inspect(op.get_bind()).get_check_constraints(table)}
    for column, words in checks.items():
        name = f"ck_{table}_{column}"
        if name in known:
            batch.drop_constraint(op.f(name), type_="check")
        batch.create_check_constraint(op.f(name), sa.text(_one_of(column, words)))


def _one_of(column: str, words: Sequence[str]) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"{column} IN ({listed})"


def _change_results() -> None:
    """Results say whose seat it was and whether it counts; so far every bot sat for itself."""
    with op.batch_alter_table("results") as batch:
        batch.add_column(sa.Column("entrants", sa.JSON(), nullable=False, server_default="[]"))
        batch.add_column(sa.Column("rated", sa.JSON(), nullable=False, server_default="[]"))
    results = sa.table(
        "results", sa.column("seq"), *(sa.column(name, sa.JSON) for name in ("bots", "entrants", "rated"))
    )
    kept = op.get_bind().execute(sa.select(results.c.seq, results.c.bots)).all()
    values = [{"of": seq, "entrants": bots, "rated": [True] * len(bots)} for seq, bots in kept]
    if values:
        op.get_bind().execute(
            sa.update(results)
            .where(results.c.seq == sa.bindparam("of"))
            .values(entrants=sa.bindparam("entrants", type_=sa.JSON), rated=sa.bindparam("rated", type_=sa.JSON)),
            values,
        )


def _make_stages() -> None:
    op.create_table(
        "tournament_stages",
        sa.Column("tournament_id", ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("label", WORD, nullable=False),
        sa.Column("tables", sa.JSON(), nullable=False),
        sa.Column("byes", sa.JSON(), nullable=False),
        sa.Column("arranged", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("ended_at", TIME),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name="fk_tournament_stages_tournament_id"),
        sa.PrimaryKeyConstraint("tournament_id", "number", name="pk_tournament_stages"),
    )


def _make_ledger() -> None:
    """1. Every result that counted becomes an act of the same number. 2. The changes refer to the acts.
    3. The ratings are counted in bands."""
    op.create_table(
        "ladder_acts",
        sa.Column("seq", COUNTED, nullable=False),
        sa.Column("ladder_id", ID, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("match_id", ID),
        sa.Column("reason", sa.Text()),
        sa.Column("created_by", ID),
        sa.Column("created_at", TIME, nullable=False),
        sa.CheckConstraint(_one_of("kind", ("result", "void", "repair")), name=op.f("ck_ladder_acts_kind")),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name="fk_ladder_acts_ladder_id"),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name="fk_ladder_acts_match_id"),
        sa.ForeignKeyConstraint(["created_by"], ["accounts.id"], name="fk_ladder_acts_created_by"),
        sa.PrimaryKeyConstraint("seq", name="pk_ladder_acts"),
        sa.UniqueConstraint("match_id", "kind", name="uq_ladder_acts_match_id_kind"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_ladder_acts_ladder_id_seq", "ladder_acts", ["ladder_id", "seq"])
    op.execute(
        "INSERT INTO ladder_acts (seq, ladder_id, kind, match_id, created_at)"
        " SELECT seq, ladder_id, 'result', match_id, finished_at FROM results WHERE ladder_id IS NOT NULL ORDER BY seq"
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "SELECT setval(pg_get_serial_sequence('ladder_acts', 'seq'),"
            " (SELECT coalesce(max(seq), 0) + 1 FROM ladder_acts), false)"
        )
    with op.batch_alter_table("rating_changes") as batch:
        batch.drop_constraint("fk_rating_changes_seq", type_="foreignkey")
        batch.create_foreign_key("fk_rating_changes_seq", "ladder_acts", ["seq"], ["seq"])
        batch.add_column(sa.Column("games", sa.Integer(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE rating_changes SET games = counted.games FROM ("
        "SELECT seq, bot_id, row_number() OVER (PARTITION BY ladder_id, bot_id ORDER BY seq) AS games"
        " FROM rating_changes) AS counted"
        " WHERE counted.seq = rating_changes.seq AND counted.bot_id = rating_changes.bot_id"
    )
    op.add_column("ladders", sa.Column("frozen_reason", sa.Text()))
    op.create_table(
        "rating_counts",
        sa.Column("ladder_id", ID, nullable=False),
        sa.Column("width", sa.BigInteger(), nullable=False),
        sa.Column("band", sa.Integer(), nullable=False),
        sa.Column("bots", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name="fk_rating_counts_ladder_id"),
        sa.PrimaryKeyConstraint("ladder_id", "width", "band", name="pk_rating_counts"),
    )
    _count_ratings()


def _count_ratings() -> None:
    ratings = sa.table("ratings", sa.column("ladder_id"), sa.column("value", sa.BigInteger))
    counted: dict[tuple[str, int, int], int] = {}
    for ladder_id, value in op.get_bind().execute(sa.select(ratings.c.ladder_id, ratings.c.value)):
        for points in BAND_POINTS:
            key = ladder_id, points * 1_000_000, value // (points * 1_000_000)
            counted[key] = counted.get(key, 0) + 1
    counts = sa.table("rating_counts", *(sa.column(name) for name in ("ladder_id", "width", "band", "bots")))
    rows = [
        {"ladder_id": ladder_id, "width": width, "band": band, "bots": bots}
        for (ladder_id, width, band), bots in counted.items()
    ]
    if rows:
        op.get_bind().execute(sa.insert(counts), rows)


def _make_webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", ID, nullable=False),
        sa.Column("account_id", ID, nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("status_reason", sa.Text()),
        sa.Column("secret_generation", sa.Integer(), nullable=False),
        sa.Column("previous_secret_until", TIME),
        sa.Column("failing_since", TIME),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.CheckConstraint(_one_of("status", ("unverified", "active", "disabled")), name=op.f("ck_webhooks_status")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_webhooks_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_index("ix_webhooks_account_id", "webhooks", ["account_id"])
    op.create_table(
        "deliveries",
        sa.Column("id", ID, nullable=False),
        sa.Column("webhook_id", ID, nullable=False),
        sa.Column("event", WORD, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("status", WORD, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", TIME, nullable=False),
        sa.Column("answer", sa.Integer()),
        sa.Column("problem", sa.Text()),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("lease_boot", sa.String(length=64)),
        sa.Column("lease_until", sa.Double()),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("delivered_at", TIME),
        sa.CheckConstraint(_one_of("status", ("due", "delivered", "failed")), name=op.f("ck_deliveries_status")),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name="fk_deliveries_webhook_id"),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
    )
    op.create_index("ix_deliveries_status_due_at", "deliveries", ["status", "due_at"])
    op.create_index("ix_deliveries_webhook_id_created_at_id", "deliveries", ["webhook_id", "created_at", "id"])


def downgrade() -> None:
    raise NotImplementedError("results that were made void cannot be told in the first schema; restore a backup")
