"""The migrations lead to the models' schema, completely or not at all."""

import os
import shutil
import signal
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, select, text

from referee.accounts import accounts
from referee.accounts.tables import Account
from referee.bots import bots, house_bots
from referee.bots.tables import Bot
from referee.db.base import Base
from referee.db.engine import Database
from referee.db.revisions import MIGRATIONS, WrongSchema, check, is_usable_at_start, read_revision, required_revision
from referee.db.upgrading import configuration, upgrade
from referee.errors import NameTaken, Unavailable
from referee.workflows import retirement

NEXT = """
import os, signal
from alembic import op
import sqlalchemy as sa
revision, down_revision = "9999", "0035"

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
    """Return false for the search index, which the models do not describe: each database has its own."""
    return not (name or "").startswith("search_index")


def test_the_migrations_lead_to_the_models(empty: Database) -> None:
    upgrade(empty)

    with empty.migration_connection() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": is_of_models})
        assert compare_metadata(context, Base.metadata) == []
    assert read_revision(empty) == required_revision()
    empty.dispose()


def test_indexes_and_checks_are_those_of_the_models(empty: Database) -> None:
    upgrade(empty)

    with empty.migration_connection() as connection:
        found = inspect(connection)
        for table in Base.metadata.sorted_tables:
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
    (copy / "versions" / "9999_next.py").write_text(NEXT.format(end=end))
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
    upgrade(empty, to="0003")
    with pytest.raises(
        WrongSchema, match=f"has schema 0003; this version of Referee needs {required_revision()}.*admin upgrade"
    ):
        check(empty)
    upgrade(empty)
    check(empty)
    with empty.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for refused in (check, upgrade):
        with pytest.raises(WrongSchema, match=r"has schema 9999, made by a newer version.*restore a backup"):
            refused(empty)
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


MADE = datetime(2026, 1, 1, tzinfo=UTC)
RENAMED = {  # columns of schema 0004 that have other names today
    "name_key": "normalized_name",
    "max_calls": "max_concurrent_requests",
    "sour_matches": "unreachable_streak",
    "check_state": "handshake_state",
    "check_epoch": "handshake_epoch",
    "checks_lost": "handshake_lost_claims",
}
OLD_NAMES = [  # in the order of their making: names, with the keys that they had
    ("Bob", "bob"),
    ("Bo\N{LATIN SMALL LETTER BETA}", "bo\N{LATIN SMALL LETTER BETA}"),
    ("\N{COPTIC CAPITAL LETTER VIDA}ob", "\N{COPTIC SMALL LETTER VIDA}ob"),
    ("Alice\N{HANGUL JUNGSEONG FILLER}", "allce\N{HANGUL JUNGSEONG FILLER}"),
    ("Alice", "allce"),
    ("Carol", "carol"),
]


def accounts_of_then() -> list[dict[str, Any]]:
    rows = [
        {"id": f"acc_{n}", "name": name, "name_key": key, "role": "owner", "created_at": MADE + timedelta(n)}
        for n, (name, key) in enumerate(OLD_NAMES)
    ]
    return [*rows, rows[0] | {"id": "acc_h", "name": "House", "name_key": "house:"}]


def bots_of_then() -> list[dict[str, Any]]:
    usual = {"url": "", "host": "", "games": [], "max_calls": 8, "secret_generation": 1, "revision": 1}
    usual |= {"check_state": "idle", "check_epoch": 0, "checks_lost": 0, "sour_matches": 0, "owner_id": "acc_0"}
    rows = [usual | row | {"id": f"bot_{n}", "status": "verified"} for n, row in enumerate(accounts_of_then()[:-1])]
    rows[0] |= {"status": "retired", "name_key": "bob bot_0"}
    return [{name: value for name, value in row.items() if name != "role"} for row in rows]


def test_E14_names_that_came_to_look_alike_stay_and_the_oldest_has_the_key(empty: Database) -> None:
    upgrade(empty, to="0004")
    with empty.migration_connection() as connection:
        for table, rows in (("accounts", accounts_of_then()), ("bots", bots_of_then())):
            today = Base.metadata.tables[table].c
            columns = (sa.column(name, today[RENAMED.get(name, name)].type) for name in rows[0])
            connection.execute(sa.insert(sa.table(table, *columns)), rows)

    upgrade(empty)

    with empty.read() as session:
        keys = dict(session.execute(select(Account.id, Account.normalized_name)).all())
        assert list(session.scalars(select(Bot.name).order_by(Bot.id))) == [name for name, _ in OLD_NAMES]
        assert keys == {
            "acc_0": "bob",
            "acc_1": "bob acc_1",
            "acc_2": "bob acc_2",
            "acc_3": "allce",
            "acc_4": "allce acc_4",
            "acc_5": "carol",
            "acc_h": "house:",
        }
        assert dict(session.execute(select(Bot.id, Bot.normalized_name)).all()) == {
            "bot_0": "bob bot_0",
            "bot_1": "bob",
            "bot_2": "bob bot_2",
            "bot_3": "allce",
            "bot_4": "allce bot_4",
            "bot_5": "carol",
        }
        for n, (name, _) in enumerate(OLD_NAMES):
            assert accounts.find_account(session, name).id == f"acc_{n}"
        assert accounts.find_account(session, "BOB").id == "acc_0"
    with empty.write() as session:
        retirement.retire_bot(session, "bot_1")
    with empty.write() as session, pytest.raises(NameTaken):  # bot_2 still looks like it
        bots.register(session, "acc_0", "Bob", "https://bob.example/")
    with empty.write() as session:
        retirement.retire_bot(session, "bot_2")
        assert bots.register(session, "acc_0", "Bob", "https://bob.example/").normalized_name == "bob"
        with pytest.raises(NameTaken):
            accounts.create_account(session, "bob")
    empty.dispose()


def test_house_players_are_named_by_their_levels_and_remain_the_same_bots(empty: Database) -> None:
    upgrade(empty, to="0006")
    names = ("first", "random", "sound")
    usual = {"host": "", "games": [], "max_concurrent_requests": 8, "secret_generation": 1, "revision": 1}
    usual |= {"handshake_state": "idle", "handshake_epoch": 0, "handshake_lost_claims": 0, "unreachable_streak": 0}
    usual |= {"owner_id": "acc_h", "created_at": MADE, "status": "house"}
    with empty.migration_connection() as connection:
        account = {"id": "acc_h", "name": "House", "normalized_name": "house:", "role": "owner", "created_at": MADE}
        connection.execute(sa.insert(Base.metadata.tables["accounts"]), [account])
        addresses = [dict.fromkeys(("normalized_name", "url", "verified_url"), f"house:{name}") for name in names]
        rows = [
            usual | address | {"id": f"bot_{name}", "name": f"House {name}"}
            for name, address in zip(names, addresses, strict=True)
        ]
        today = Base.metadata.tables["bots"].c
        columns = (sa.column(name, today[name].type) for name in rows[0])
        connection.execute(sa.insert(sa.table("bots", *columns)), rows)

    upgrade(empty)

    with empty.write() as session:
        levels = {bot.url: bot.id for bot in house_bots.get_or_create_house_bots(session)}
        assert (levels["house:1"], levels["house:3"]) == ("bot_random", "bot_sound")
        first = house_bots.get_or_create_house_bot(session, "house:first")
        assert (first.id, first.name, first.verified_url) == ("bot_first", "House First", "house:first")
        assert session.get_one(Bot, "bot_sound").name == "House 3 Sound"
    empty.dispose()
