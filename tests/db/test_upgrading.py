"""The migrations lead to the models' schema, completely or not at all."""

import os
import shutil
import signal
import threading
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
def empty(empty_url: str) -> Database:
    return Database(empty_url)


def is_of_models(name: str | None, kind: str, parents: object) -> bool:
    """Return false for the search index and the tables of revisions, which the models do not describe."""
    return not (name or "").startswith(("search_index", "alembic_version"))


def test_the_migrations_lead_to_the_models(empty: Database) -> None:
    upgrade(empty)

    with empty.migration_connection() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": is_of_models})
        assert compare_metadata(context, all_metadata()) == []  # type: ignore[arg-type]  # several will do
    assert read_revision(empty) == required_revision()
    empty.dispose()


def test_indexes_and_checks_are_those_of_the_models(empty: Database) -> None:
    upgrade(empty)

    with empty.migration_connection() as connection:
        found = inspect(connection)
        for table in all_tables():
            indexes = {index["name"] for index in found.get_indexes(table.name)}
            checks = {check["name"] for check in found.get_check_constraints(table.name)}
            assert {index.name for index in table.indexes} <= indexes
            assert {str(one.name) for one in table.constraints if str(one.name).startswith("ck_")} == checks
    empty.dispose()


def test_a_second_upgrade_changes_nothing(empty: Database) -> None:
    upgrade(empty)
    upgrade(empty)

    assert read_revision(empty) == required_revision()
    empty.dispose()


def test_there_is_no_way_back_but_a_backup(empty: Database) -> None:
    upgrade(empty)

    config = configuration()
    with empty.migration_connection() as connection:
        config.attributes["connection"] = connection
        with pytest.raises(NotImplementedError, match="restore a backup"):
            command.downgrade(config, "base")

    assert read_revision(empty) == required_revision()
    empty.dispose()


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


def test_K26_a_migration_that_fails_leaves_the_old_schema(empty: Database, tmp_path: Path) -> None:
    upgrade(empty)

    with pytest.raises(RuntimeError, match="half way"):
        upgrade(empty, migrations=with_next(tmp_path, "raise RuntimeError('half way')"))

    assert (is_old_schema(empty), read_revision(empty)) == (True, required_revision())
    empty.dispose()


def test_K26_a_migration_that_is_killed_leaves_the_old_schema(empty: Database, tmp_path: Path) -> None:
    upgrade(empty)
    migrations = with_next(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")

    pid = os.fork()
    if pid == 0:
        try:
            upgrade(empty, migrations=migrations)
        finally:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert status == -signal.SIGKILL
    assert (is_old_schema(empty), read_revision(empty)) == (True, required_revision())
    empty.dispose()


def test_K26_a_migration_that_ends_well_brings_the_new_schema(empty: Database, tmp_path: Path) -> None:
    upgrade(empty)

    upgrade(empty, migrations=with_next(tmp_path, "pass"))

    assert (is_old_schema(empty), read_revision(empty)) == (False, "9999")
    empty.dispose()


def test_K26_a_filled_database_keeps_its_rows_and_is_played_on(empty: Database, tmp_path: Path) -> None:
    upgrade(empty)
    world = World(empty)
    bots = world.bots(3)
    for choice in (0, 1, 0):
        world.play(bots[choice : choice + 2], choice=choice)
    world.match(bots[:2])
    before = rows_of_all_tables(empty)

    upgrade(empty, migrations=with_next(tmp_path, "pass"))

    assert rows_of_all_tables(empty) == before
    world.play(bots[1:])
    with empty.read() as session:
        assert [str(difference) for difference in audit(session)] == []
    empty.dispose()


def rows_of_all_tables(database: Database) -> dict[str, list[str]]:
    """Return the rows of each table of the models as sorted texts."""
    with database.read() as session:
        return {table.name: sorted(str(row) for row in session.execute(select(table))) for table in all_tables()}


def test_the_schema_this_program_needs_is_the_last_of_its_migrations() -> None:
    assert required_revision() == ScriptDirectory.from_config(configuration()).get_current_head()


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


def test_another_schema_than_the_programs_is_named_with_what_to_do(empty: Database) -> None:
    with empty.migration_connection():
        pass  # this creates the SQLite file
    with pytest.raises(WrongSchema, match=f"no tables yet; this version of Referee needs schema {required_revision()}"):
        check(empty)
    upgrade(empty)
    check(empty)
    for revision, problem in {
        "9999": r"has schema 9999, made by a newer version.*restore a backup",
        "0042": r"has schema 0042, made before version 1\.0 .* Nothing was changed",
    }.items():
        with empty.write() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})
        for refused in (check, upgrade):
            with pytest.raises(WrongSchema, match=problem):
                refused(empty)
    empty.dispose()


def test_an_earlier_schema_is_named_with_what_to_do(
    empty: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(empty)
    monkeypatch.setattr(revisions, "MIGRATIONS", with_next(tmp_path, "pass"))

    with pytest.raises(
        WrongSchema, match=f"has schema {read_revision(empty)}; this version of Referee needs 9999.*admin upgrade"
    ):
        check(empty)
    empty.dispose()


def test_of_several_upgrades_at_once_one_does_the_work(empty_url: str) -> None:
    databases = [Database(empty_url) for _ in range(3)]
    failures: list[Exception] = []

    def one(database: Database) -> None:
        try:
            upgrade(database)
        except Exception as error:  # noqa: BLE001  # told below
            failures.append(error)

    threads = [threading.Thread(target=one, args=(database,)) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert failures == []
    assert read_revision(databases[0]) == required_revision()
    for database in databases:
        database.dispose()
