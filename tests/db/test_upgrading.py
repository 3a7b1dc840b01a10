"""The migrations lead to the models' schema, completely or not at all."""

import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, select, text

from referee.audit.database_audit import audit
from referee.db import revisions
from referee.db.engine import Database
from referee.db.revisions import MIGRATIONS, WrongSchema, check, is_usable_at_start, read_revision, required_revision
from referee.db.upgrading import configuration, upgrade
from referee.errors import Unavailable
from tests.database.tables import all_metadata, all_tables
from tests.database.world import World

NEXT = """
import os, signal
from alembic import op
import sqlalchemy as sa
revision, down_revision = "9999", "{before}"

def upgrade():
    op.create_table("extra", sa.Column("id", sa.Integer, primary_key=True))
    with op.batch_alter_table("bots") as bots:
        bots.add_column(sa.Column("colour", sa.String(10)))
    {end}
"""


@pytest.fixture
def empty(empty_url: str) -> Iterator[Database]:
    database = Database(empty_url)
    yield database
    database.dispose()


@pytest.fixture
def upgraded(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    if not database.is_sqlite:  # the tests that follow have the same tables
        with database.migration_connection() as connection:
            connection.execute(text("DROP TABLE IF EXISTS extra"))
            connection.execute(text("ALTER TABLE bots DROP COLUMN IF EXISTS colour"))
            connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": required_revision()})
    database.dispose()


def is_of_models(name: str | None, kind: str, parents: object) -> bool:
    """Return false for the search index and the tables of revisions, which the models do not describe."""
    return not (name or "").startswith(("search_index", "alembic_version"))


def test_the_migrations_lead_to_the_models_and_a_second_upgrade_changes_nothing(empty: Database) -> None:
    with empty.migration_connection():
        pass  # this creates the SQLite file
    with pytest.raises(WrongSchema, match=f"no tables yet; this version of Referee needs schema {required_revision()}"):
        check(empty)
    databases = [empty, *(Database(str(empty.url)) for _ in range(2))]
    with ThreadPoolExecutor(3) as threads:  # of several at the same time, one does the work
        list(threads.map(upgrade, databases))
    upgrade(empty)

    with empty.migration_connection() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": is_of_models})
        assert compare_metadata(context, all_metadata()) == []  # type: ignore[arg-type]  # several will do
        found = inspect(connection)
        for table in all_tables():
            indexes = {index["name"] for index in found.get_indexes(table.name)}
            checks = {check["name"] for check in found.get_check_constraints(table.name)}
            assert {index.name for index in table.indexes} <= indexes
            assert {str(one.name) for one in table.constraints if str(one.name).startswith("ck_")} == checks
    newest = ScriptDirectory.from_config(configuration()).get_current_head()
    assert read_revision(empty) == required_revision() == newest
    for database in databases:
        database.dispose()


def test_there_is_no_way_back_but_a_backup(upgraded: Database) -> None:
    config = configuration()
    with upgraded.migration_connection() as connection:
        config.attributes["connection"] = connection
        with pytest.raises(NotImplementedError, match="restore a backup"):
            command.downgrade(config, "base")

    assert read_revision(upgraded) == required_revision()


def with_next(tmp_path: Path, end: str) -> Path:
    """Add a migration that does two things and then ``end``."""
    copy = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, copy)
    (copy / "versions" / "9999_next.py").write_text(NEXT.format(before=required_revision(), end=end))
    return copy


def is_old_schema(database: Database) -> bool:
    with database.migration_connection() as connection:
        found = inspect(connection)
        columns = {column["name"] for column in found.get_columns("bots")}
        return not found.has_table("extra") and "colour" not in columns


@pytest.mark.parametrize(
    ("end", "status"), [("raise RuntimeError", 1), ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL)]
)
def test_K26_a_migration_that_fails_or_is_killed_leaves_the_old_schema(
    upgraded: Database, tmp_path: Path, end: str, status: int
) -> None:
    migrations = with_next(tmp_path, end)

    pid = os.fork()
    if pid == 0:
        with suppress(RuntimeError):
            upgrade(upgraded, migrations=migrations)
        os._exit(1)

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == status
    assert (is_old_schema(upgraded), read_revision(upgraded)) == (True, required_revision())


def test_K26_a_filled_database_keeps_its_rows_in_the_new_schema_and_is_played_on(
    upgraded: Database, tmp_path: Path
) -> None:
    world = World(upgraded)
    bots = world.bots(3)
    for choice in (0, 1, 0):
        world.play(bots[choice : choice + 2], choice=choice)
    world.match(bots[:2])
    before = rows_of_all_tables(upgraded)

    upgrade(upgraded, migrations=with_next(tmp_path, "pass"))

    assert (is_old_schema(upgraded), read_revision(upgraded)) == (False, "9999")
    assert rows_of_all_tables(upgraded) == before
    world.play(bots[1:])
    with upgraded.read() as session:
        assert [str(difference) for difference in audit(session)] == []


def rows_of_all_tables(database: Database) -> dict[str, list[str]]:
    """Return the rows of each table of the models as sorted texts."""
    with database.read() as session:
        return {table.name: sorted(str(row) for row in session.execute(select(table))) for table in all_tables()}


def test_to_look_for_the_schema_of_a_database_makes_none(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'no.db'}")

    with pytest.raises(WrongSchema, match="no tables yet"):
        check(database)

    assert not is_usable_at_start(database)
    assert not list(tmp_path.iterdir())


def test_a_process_may_be_started_before_the_server_of_its_database() -> None:
    database = Database("postgresql://127.0.0.1:1/none")

    with pytest.raises(Unavailable):
        check(database)
    assert is_usable_at_start(database)


def test_another_schema_than_the_programs_is_named_with_what_to_do(
    upgraded: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(upgraded)
    for revision in ("9999", required_revision()):
        with upgraded.write() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})
        if revision == "9999":
            for refused in (check, upgrade):
                with pytest.raises(WrongSchema, match=r"schema 9999, made by a newer version.*restore a backup"):
                    refused(upgraded)
    monkeypatch.setattr(revisions, "MIGRATIONS", with_next(tmp_path, "pass"))
    with pytest.raises(WrongSchema, match=r"has schema 1001; this version of Referee needs 9999.*admin upgrade"):
        check(upgraded)
    monkeypatch.undo()
