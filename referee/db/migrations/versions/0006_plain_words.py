"""Tables, columns and stored reports named by the words of bot protocol 2. Refused while matches are in progress."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import sqlalchemy as sa
from alembic import context, op

from referee.db.revisions import MatchesInProgress

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLES: Final = {"tournament_stages": "tournament_rounds", "ladder_acts": "ledger_entries", "examinations": "checks"}
COLUMNS: Final = {  # by table, under its new name
    "accounts": {"name_key": "normalized_name"},
    "bots": {
        "name_key": "normalized_name",
        "proven_url": "verified_url",
        "max_calls": "max_concurrent_requests",
        "sour_matches": "unreachable_streak",
        "check_state": "handshake_state",
        "check_due_at": "handshake_due_at",
        "check_epoch": "handshake_epoch",
        "checks_lost": "handshake_lost_claims",
        "check_report": "handshake_report",
        "checked_at": "handshake_ended_at",
    },
    "checks": {
        "asked": "questions_sent",
        "planned": "questions_total",
        "what": "current_step",
        "wanted": "requested_by_owner",
        "lost": "lost_claims",
    },
    "tournaments": {
        "draw": "draw_key",
        "planned": "expected_matches",
        "stand_in": "substitute",
        "deals": "deal_sharing",
        "open_seats": "anonymous",
    },
    "tournament_entries": {"since": "first_round", "stand_in_id": "substitute_id"},
    "matches": {"stage": "tournament_round", "replay_of": "rematch_of"},
    "match_logs": {"packed": "gzip_log"},
    "deliveries": {"answer": "response_status", "problem": "last_error"},
}
CONSTRAINTS: Final = {  # by table, under its new name; their names follow those of tables and columns
    "accounts": {"uq_accounts_name_key": "uq_accounts_normalized_name"},
    "bots": {"uq_bots_name_key": "uq_bots_normalized_name", "ck_bots_check_state": "ck_bots_handshake_state"},
    "checks": {
        "pk_examinations": "pk_checks",
        "ck_examinations_state": "ck_checks_state",
        "fk_examinations_bot_id": "fk_checks_bot_id",
    },
    "tournament_entries": {"fk_tournament_entries_stand_in_id": "fk_tournament_entries_substitute_id"},
    "tournament_rounds": {
        "pk_tournament_stages": "pk_tournament_rounds",
        "fk_tournament_stages_tournament_id": "fk_tournament_rounds_tournament_id",
    },
    "ledger_entries": {
        "pk_ladder_acts": "pk_ledger_entries",
        "ck_ladder_acts_kind": "ck_ledger_entries_kind",
        "fk_ladder_acts_ladder_id": "fk_ledger_entries_ladder_id",
        "fk_ladder_acts_match_id": "fk_ledger_entries_match_id",
        "fk_ladder_acts_created_by": "fk_ledger_entries_created_by",
        "uq_ladder_acts_match_id_kind": "uq_ledger_entries_match_id_kind",
    },
    "matches": {"fk_matches_replay_of": "fk_matches_rematch_of"},
}
INDEXES: Final = {  # old name: new name, table, columns
    "ix_matches_tournament_id_stage_table_no": (
        *("ix_matches_tournament_id_tournament_round_table_no", "matches"),
        ["tournament_id", "tournament_round", "table_no"],
    ),
    "ix_bots_check_state_check_due_at": (
        *("ix_bots_handshake_state_handshake_due_at", "bots"),
        ["handshake_state", "handshake_due_at"],
    ),
    "ix_examinations_state_due_at": ("ix_checks_state_due_at", "checks", ["state", "due_at"]),
    "ix_ladder_acts_ladder_id_seq": ("ix_ledger_entries_ladder_id_seq", "ledger_entries", ["ladder_id", "seq"]),
}
FORMER_GROUP_STATES: Final = "'new', 'open', 'over'"
GROUP_STATES: Final = "'new', 'playing', 'revealed'"
RENAMED_GROUP_STATE: Final = "CASE state WHEN 'open' THEN 'playing' WHEN 'over' THEN 'revealed' ELSE state END"
# A started match is never dealt again, and under protocol 2 its open question would have another id and another body.
# A deal group is half open while some of its bots have promised a nonce and none was revealed.
IN_PROGRESS: Final = """
    SELECT count(*) FROM matches JOIN deal_groups ON deal_groups.id = matches.group_id
    WHERE matches.status = 'running'
    OR matches.status IN ('waiting', 'due', 'stuck')
    AND (matches.rows > 0 OR deal_groups.state = 'new' AND deal_groups.nonce_hashes IS NOT NULL)
"""


def upgrade() -> None:
    if not context.config.attributes.get("settles"):
        _refuse_matches_in_progress()
    _rename()
    _invert_anonymous()
    _rename_group_states()
    _name_handshakes_in_reasons()
    _convert("bots", "id", "handshake_report", _with_manifest)
    _convert("checks", "bot_id", "report", _in_words_of_protocol_2)
    _convert("tournaments", "id", "format_options", _with_rounds)


def _refuse_matches_in_progress() -> None:
    count = op.get_bind().scalar(sa.text(IN_PROGRESS))
    if count:
        raise MatchesInProgress(count)


# -- names --


def _rename() -> None:
    for old, new in TABLES.items():
        op.rename_table(old, new)
    for table, columns in COLUMNS.items():
        for old, new in columns.items():
            op.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")
    for old, (new, table, names) in INDEXES.items():
        op.drop_index(old, table)
        op.create_index(new, table, names)
    if op.get_bind().dialect.name == "sqlite":
        for table, constraints in CONSTRAINTS.items():
            _rebuild(table, constraints)
        return
    for table, constraints in CONSTRAINTS.items():
        for old, new in constraints.items():
            op.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {old} TO {new}")
    op.execute("ALTER SEQUENCE ladder_acts_seq_seq RENAME TO ledger_entries_seq_seq")


def _rebuild(table: str, changes: Mapping[str, str], values: Mapping[str, str] | None = None) -> None:
    """Change constraints in SQLite, which can do so only in a new table; keep rows, indexes and the last number.

    ``changes`` are replacements in the statement that creates the table. ``values`` are the expressions of columns
    whose values change.
    """
    connection = op.get_bind()
    masters = sa.table("sqlite_master", *map(sa.column, ("type", "tbl_name", "sql")))
    of_table = sa.select(masters.c.type, masters.c.sql).where(masters.c.tbl_name == table, masters.c.sql.is_not(None))
    found = connection.execute(of_table).all()
    (created,) = (sql for kind, sql in found if kind == "table")
    for old, new in changes.items():
        created = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, created)
    interim = f"{table}_rebuilt"
    created, replaced = re.subn(rf'^CREATE TABLE "?{table}"?', f"CREATE TABLE {interim}", created)
    assert replaced == 1, created
    numbered = "AUTOINCREMENT" in created
    last = numbered and connection.scalar(sa.text("SELECT seq FROM sqlite_sequence WHERE name = :of"), {"of": table})
    op.execute(created)
    names = [column["name"] for column in sa.inspect(connection).get_columns(table)]
    selected = ", ".join((values or {}).get(name, f'"{name}"') for name in names)
    op.execute(f"INSERT INTO {interim} SELECT {selected} FROM {table}")  # noqa: S608
    op.drop_table(table)
    op.rename_table(interim, table)
    for index in (sql for kind, sql in found if kind == "index"):
        op.execute(sa.text(index))
    if last:
        numbers = {"of": table, "last": last}
        connection.execute(sa.text("DELETE FROM sqlite_sequence WHERE name = :of"), numbers)
        connection.execute(sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:of, :last)"), numbers)


# -- values --


def _invert_anonymous() -> None:
    op.execute("UPDATE tournaments SET anonymous = NOT anonymous")
    with op.batch_alter_table("tournaments") as batch:  # the default of `open_seats` would be the wrong one
        batch.alter_column("anonymous", existing_type=sa.Boolean(), existing_nullable=False, server_default=sa.true())


def _rename_group_states() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _rebuild("deal_groups", {FORMER_GROUP_STATES: GROUP_STATES}, {"state": RENAMED_GROUP_STATE})
        return
    op.drop_constraint(op.f("ck_deal_groups_state"), "deal_groups", type_="check")
    op.execute(f"UPDATE deal_groups SET state = {RENAMED_GROUP_STATE} WHERE state <> 'new'")  # noqa: S608
    op.create_check_constraint(op.f("ck_deal_groups_state"), "deal_groups", f"state IN ({GROUP_STATES})")


def _name_handshakes_in_reasons() -> None:
    op.execute("UPDATE bots SET status_reason = 'the handshake failed' WHERE status_reason = 'the check failed'")
    op.execute(
        "UPDATE tournament_entries SET preflight_reason ="
        " replace(preflight_reason, 'the check before the start failed', 'the handshake before the start failed')"
        " WHERE preflight_reason LIKE 'the check before the start failed%'"
    )


def _convert(name: str, key: str, column: str, converted: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Convert the JSON objects of a column one by one, because a report may be large."""
    table = sa.table(name, sa.column(key), sa.column(column, sa.JSON(none_as_null=True)))
    row_key, value = table.c[key], table.c[column]
    for (row,) in op.get_bind().execute(sa.select(row_key).where(value.is_not(None))).all():
        report = op.get_bind().scalar(sa.select(value).where(row_key == row))
        if report is not None:
            op.get_bind().execute(sa.update(table).where(row_key == row).values({column: converted(report)}))


def _with_manifest(report: dict[str, Any]) -> dict[str, Any]:
    return {"manifest" if name == "card" else name: value for name, value in report.items()}


def _in_words_of_protocol_2(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report with the ids and members of today; ``protocol`` says by which protocol the bot was checked."""
    converted = dict(report)
    if converted.get("bot"):
        renamed = {"max_calls": "max_concurrent_requests"}
        converted["bot"] = {renamed.get(name, name): value for name, value in converted["bot"].items()}
    for part in ("findings", "skipped"):
        if part in converted:
            converted[part] = [{**rule, "id": "manifest"} if rule["id"] == "card" else rule for rule in converted[part]]
    return converted


def _with_rounds(options: dict[str, Any]) -> dict[str, Any]:
    return {"rounds" if name == "stages" else name: value for name, value in options.items()}


def downgrade() -> None:
    raise NotImplementedError("bots have learned another protocol since; restore a backup")
