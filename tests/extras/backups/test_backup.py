"""Backups: what they contain, what is refused, the commands, and what becomes of matches that were not over."""

import json
import os
import shutil
import sqlite3
import stat
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random

import psycopg
import pytest
from click.testing import CliRunner
from click.testing import Result as Ran
from sqlalchemy import URL, select, update

from api.accounts.oversight_schemas import ActView
from referee.accounts import acts
from referee.accounts.act_kinds import ActKind
from referee.accounts.acts import ActFilter
from referee.audit.database_audit import audit
from referee.cli import main
from referee.db.engine import Database
from referee.db.health import DatabaseIdentity
from referee.db.upgrading import upgrade
from referee.master_keys import MasterKey
from referee.matches.logs import chain
from referee.matches.tables import DealGroup, StoredMatch
from referee.runtime.data_dir import DataDir
from referee.settings import Settings
from referee_extras.backups import backup, restoring
from referee_extras.backups import backup as backups
from referee_extras.backups.backup import BackupError
from tests.cli.running import comes_true
from tests.database import postgres, tournaments
from tests.database.databases import write_upgraded
from tests.database.world import World
from tests.surroundings import MASTER_KEY, settings_for


@pytest.fixture
def settings(url: str, tmp_path: Path) -> Settings:
    return replace(settings_for(tmp_path), database_url=url)


@pytest.fixture(autouse=True)
def programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the client programs of the server on PATH."""
    server: postgres.Server | None = request.getfixturevalue("postgres_server")
    if server is not None:
        monkeypatch.setenv("PATH", f"{server.programs}:{os.environ['PATH']}")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "backup.tar"


def write(world: World, target: Path) -> backups.Inventory:
    return backups.write_backup(world.database, MASTER_KEY, target)


def restore(world: World, target: Path, settings: Settings, *, replaces: bool = True) -> restoring.Restored:
    world.database.dispose()
    if not world.database.is_sqlite:  # the server may still be closing the connections
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        beside = world.database.url.set(drivername="postgresql", database="postgres")
        with psycopg.connect(beside.render_as_string(hide_password=False), autocommit=True) as connection:
            assert comes_true(lambda: connection.execute(query, [world.database.url.database]).fetchone() == (0,))
    return restoring.restore(target, settings, replaces=replaces)


@pytest.fixture
def sqlite_world(sqlite_template: Path, tmp_path: Path) -> Iterator[World]:
    shutil.copy(sqlite_template, tmp_path / "referee.db")
    opened = Database(f"sqlite:///{tmp_path / 'referee.db'}")
    yield World(opened)
    opened.dispose()


def states(world: World) -> dict[str, str]:
    with world.database.read() as session:
        return {
            match_id: str(status) for match_id, status in session.execute(select(StoredMatch.id, StoredMatch.status))
        }


def test_K31_F14_a_restored_database_is_that_of_the_backup_and_its_acts_say_what_is_lost(
    world: World, target: Path, settings: Settings
) -> None:
    seated = world.bots(2)
    kept = world.play(seated)
    with world.database.write() as session:  # the fixtures of PostgreSQL empty all tables
        session.merge(DatabaseIdentity(number=1, id="identity", probe=0))
    inventory = write(world, target)
    world.play(seated)
    with world.database.write() as session:
        acts.record_act(session, None, ActKind.ACCOUNT_RENAMED, seated[0])

    restored = restore(world, target, settings)

    assert inventory == restored.inventory == backups.read_inventory(target)
    assert (inventory.counts["results"], inventory.last_result, inventory.counts["bots"]) == (1, kept.seq, 2)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert states(world) == {kept.match_id: "finished"}
    with world.database.read() as session:
        assert list(audit(session)) == []
        (earlier,) = map(ActView().dump, acts.load_all(session, ActFilter()))
        identity = session.scalars(select(DatabaseIdentity.id)).one()
    about = {"backup_made_at": inventory.created_at, "backup_version": inventory.program_version}
    assert earlier["details"] == {**about, "last_result": kept.seq, "lost": {"results": 1, "acts": 1}}
    assert identity not in ("", inventory.installation)

    world.play(seated)
    restore(world, target, settings)  # the replaced database is no longer the one of the backup

    with world.database.read() as session:
        first, last = acts.load_all(session, ActFilter())
        identity = session.scalars(select(DatabaseIdentity.id)).one()
    assert (last.kind, last.account_name, last.object_id) == ("service.restored", "command line", identity)
    assert last.details["lost"] is None
    assert {**ActView().dump(first), "id": None} == {**earlier, "id": None}


def test_K31_matches_that_were_not_over_never_continue_with_cards_that_may_be_known(
    world: World, target: Path, settings: Settings
) -> None:
    tournament_id, _ = tournaments.begun(world, 4, format="round_robin", cycles=1)
    tournaments.go_on(world.database, tournament_id)
    due = [match_id for match_id, state in states(world).items() if state == "due"]
    (claim,) = world.claim(match_id=due[0])
    world.open_group(claim.match_id)
    friendly = world.match()
    write(world, target)

    settled = restore(world, target, settings).settled

    assert set(settled.cancelled) == {*due, friendly}
    assert len(settled.rematches) == len(due) == len(set(settled.rematches))
    after = states(world)
    assert {after[match_id] for match_id in (*due, friendly)} == {"cancelled"}
    assert {after[match_id] for match_id in settled.rematches} == {"due"}
    with world.database.read() as session:
        groups = dict(session.execute(select(StoredMatch.id, StoredMatch.group_id)).all())
        assert {groups[match_id] for match_id in settled.rematches}.isdisjoint(groups[match_id] for match_id in due)
        reasons = session.scalars(select(StoredMatch.reason).where(StoredMatch.status == "cancelled")).all()
        assert all("restored from a backup of 20" in str(reason) for reason in reasons)
        unrevealed = select(DealGroup.id).where(DealGroup.state != "revealed")
        assert {groups[match_id] for match_id in settled.rematches} == set(session.scalars(unrevealed))


# -- what is kept, and what is refused --


def test_the_replaced_file_is_kept_whole(sqlite_world: World, target: Path, tmp_path: Path) -> None:
    write(sqlite_world, target)
    later = sqlite_world.account()

    restored = restore(sqlite_world, target, settings_for(tmp_path))

    assert restored.replaced is not None
    with sqlite3.connect(restored.replaced) as kept:
        assert kept.execute("SELECT count(*) FROM accounts WHERE id = ?", [later]).fetchone() == (1,)
    assert sorted(path.name for path in tmp_path.glob("referee.db.restoring*")) == []


def test_a_database_is_replaced_only_on_request_and_not_while_it_is_in_use(
    world: World, target: Path, settings: Settings
) -> None:
    write(world, target)
    later, other = world.match(), Database(settings.database_url)

    with pytest.raises(BackupError, match="--replace"):
        restore(world, target, settings, replaces=False)
    with other.read() as session:
        session.scalars(select(StoredMatch.id)).all()
        with pytest.raises(BackupError, match="Stop the API, the workers and the"):
            restoring.restore(target, settings, replaces=True)
    other.dispose()

    assert later in states(world)


def test_a_damaged_database_is_replaced(sqlite_world: World, target: Path, tmp_path: Path) -> None:
    write(sqlite_world, target)
    sqlite_world.database.dispose()
    (tmp_path / "referee.db").write_bytes(b"no database at all" * 1000)

    restored = restore(sqlite_world, target, settings_for(tmp_path))

    assert restored.replaced is not None
    assert restored.replaced.read_bytes().startswith(b"no database")
    assert states(sqlite_world) == {}


def test_a_changed_or_shortened_backup_is_refused_or_restores_the_same(
    sqlite_world: World, target: Path, tmp_path: Path
) -> None:
    sqlite_world.play(sqlite_world.bots(2))
    write(sqlite_world, target)
    whole, copy = target.read_bytes(), tmp_path / "copy.db"
    backups.extract_copy(target, copy)
    original, dice = copy.read_bytes(), Random(1)
    changed = [whole[: dice.randrange(len(whole) - 10_240)] for _ in range(10)]
    for place in dice.choices(range(len(whole) - 10_240), k=30):
        changed.append(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])

    refused = 0
    for content in changed:
        target.write_bytes(content)
        try:
            backups.extract_copy(target, copy)
        except BackupError:
            refused += 1
        else:
            assert copy.read_bytes() == original

    assert refused > 35


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is not a backup of Referee"),
        (b"hello" * 1000, "is not a backup of Referee"),
        ("no inventory", "does not begin with inventory.json"),
        ({"format": 2}, "has the format 2"),
        ({"format": 1}, "its inventory cannot be read"),
        ([], "its inventory cannot be read"),
    ],
    ids=str,
)
def test_other_files_are_refused_with_a_sentence(content: object, expected: str, target: Path, tmp_path: Path) -> None:
    if isinstance(content, bytes):
        target.write_bytes(content)
    else:
        file = tmp_path / ("other.txt" if isinstance(content, str) else "inventory.json")
        file.write_text(json.dumps(content))
        with tarfile.open(target, "w") as archive:
            archive.add(file, file.name)

    with pytest.raises(BackupError, match=expected):
        backups.extract_copy(target, None)


def test_a_link_in_place_of_the_copy_is_refused(sqlite_world: World, target: Path, tmp_path: Path) -> None:
    write(sqlite_world, target)
    with tarfile.open(target) as archive:
        archive.extract("inventory.json", tmp_path, filter="data")
    with tarfile.open(target, "w") as archive:
        archive.add(tmp_path / "inventory.json", "inventory.json")
        link = tarfile.TarInfo("referee.db")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)

    with pytest.raises(BackupError, match=r"does not contain referee\.db"):
        backups.extract_copy(target, None)


def test_a_backup_that_does_not_fit_the_service_is_refused(sqlite_world: World, target: Path, tmp_path: Path) -> None:
    write(sqlite_world, target)
    own = settings_for(tmp_path)

    with pytest.raises(BackupError, match="another master key"):
        restore(sqlite_world, target, replace(own, master_key=bytes(32)))
    with pytest.raises(BackupError, match="names one of postgresql"):
        restore(sqlite_world, target, replace(own, database_url="postgresql://nobody@127.0.0.1:1/x"))
    with pytest.raises(BackupError, match="does not exist"):
        restore(sqlite_world, tmp_path / "none.tar", own)
    with pytest.raises(BackupError, match="exists already"):
        write(sqlite_world, target)
    with pytest.raises(BackupError, match="There is no directory"):
        write(sqlite_world, tmp_path / "none" / "backup.tar")
    assert sorted(path.name for path in tmp_path.glob(".referee-backup-*")) == []


def test_a_newer_backup_is_refused(sqlite_world: World, target: Path, tmp_path: Path) -> None:
    with sqlite_world.database.write() as session:
        session.execute(update(DatabaseIdentity).values(probe=1))
    sqlite_world.database.dispose()
    with sqlite3.connect(tmp_path / "referee.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    write(sqlite_world, target)

    with pytest.raises(Exception, match="9999"):
        restore(sqlite_world, target, settings_for(tmp_path))


# -- PostgreSQL --


def test_the_inventory_and_the_copy_are_one_snapshot_and_missing_programs_are_named(
    postgres_url: str, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An account is created between the counts and the dump."""
    world = World(Database(postgres_url))
    world.account()
    program = shutil.which("pg_dump")
    late = tmp_path / "late"
    wrapper = tmp_path / "programs" / "pg_dump"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nwhile [ ! -e {late} ]; do sleep 0.01; done\nexec {program} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    described = backups._describe

    def describe_and_change(connection: object) -> dict[str, object]:
        found = described(connection)  # type: ignore[arg-type]  # a connection
        with psycopg.connect(postgres_url) as other:
            other.execute(
                "INSERT INTO accounts (id, name, normalized_name, role, entry_consent, created_at)"
                " SELECT 'acc_late', 'Late', 'late', role, entry_consent, created_at FROM accounts LIMIT 1"
            )
        late.touch()
        return found

    monkeypatch.setattr(backups, "_describe", describe_and_change)
    inventory = write(world, target)

    settings = replace(settings_for(tmp_path), database_url=postgres_url)
    restore(world, target, settings)
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM accounts").fetchone() == (1,)
    assert inventory.counts["accounts"] == 1
    target.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackupError, match=r"pg_dump was not found\. Install the client programs of PostgreSQL"):
        write(world, target)
    assert not target.exists()
    world.database.dispose()


def test_K34_a_backup_from_before_a_rotation_is_restored_while_its_key_is_accepted(
    world: World, target: Path, settings: Settings
) -> None:
    seated = world.bots(2)
    kept, lost = world.play(seated), world.match(seated)
    write(world, target)
    new = bytes(range(100, 132))

    restored = restore(world, target, replace(settings, master_key=MasterKey(new, [MASTER_KEY])))

    assert restored.settled.cancelled == [lost]
    with world.database.read() as session:
        assert list(audit(session)) == []
        head = chain.find_head(session)
        assert head is not None
        assert head.match in (kept.match_id, lost)
    with pytest.raises(BackupError, match="another master key"):
        restore(world, target, replace(settings, master_key=MasterKey(new)))


def test_the_newest_backup_is_found_among_other_files(sqlite_world: World, tmp_path: Path) -> None:
    (tmp_path / "older").mkdir()
    (tmp_path / "notes.txt").write_text("no backup")
    os.mkfifo(tmp_path / "pipe")
    assert backups.find_newest(tmp_path) is None

    inventory = write(sqlite_world, tmp_path / "one.tar")

    assert backups.find_newest(tmp_path) == (tmp_path / "one.tar", datetime.fromisoformat(inventory.created_at))


HERE = {"DATABASE_URL": "", "REFEREE_MASTER_KEY": MASTER_KEY.hex()}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_upgraded(tmp_path / "data" / "referee.db")
    return tmp_path / "data"


def run(*words: str) -> Ran:
    return CliRunner(env=HERE).invoke(main, words)


def test_a_backup_is_described_restored_and_audited_which_decides_the_exit_status(data: Path, tmp_path: Path) -> None:
    place, file = ("--data", str(data)), str(tmp_path / "backup.tar")
    world = World(Database(f"sqlite:///{data / 'referee.db'}"))
    world.play(world.bots(2))
    world.database.dispose()

    written, checked = run("admin", "backup", file, *place), run("admin", "backup", "--check", file, "--json")
    with closing(sqlite3.connect(data / "referee.db", isolation_level=None)) as database:
        database.execute("UPDATE ratings SET value = value + 1")
    run("admin", "backup", f"{file}.bad", *place)
    restored = run("admin", "restore", file, *place, "--replace")
    bad = run("admin", "restore", f"{file}.bad", *place, "--replace", "--json")
    trusting = run("admin", "restore", f"{file}.bad", *place, "--replace", "--no-audit")
    again = run("admin", "backup", file, *place)

    assert [result.exit_code for result in (written, restored, bad, trusting, again)] == [0, 0, 1, 0, 1], (
        restored.output
    )
    assert written.output.startswith(f"{file} is complete.\nMade at 20")
    assert "2 accounts, 2 bots, 0 tournaments, 1 matches, 0 acts, 1 results" in written.output
    inventory = json.loads(checked.output)
    assert (inventory["format"], inventory["database"], inventory["last_result"]) == (1, "sqlite", 1)
    assert "0 open matches cancelled; 0 rematches arranged." in restored.output
    assert restored.output.endswith(f"{data}: no differences\n")
    restored_document, audited = map(json.loads, bad.output.splitlines())
    assert (restored_document["cancelled_matches"], bool(audited["differences"])) == (0, True)
    assert again.output == f"Error: {file} exists already. Choose another name, or remove the file.\n"


def test_the_directory_of_a_running_service_is_refused(data: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "backup.tar")
    run("admin", "backup", file, "--data", str(data))
    owner = DataDir(data)
    owner.acquire()

    refused = run("admin", "restore", file, "--data", str(data), "--replace")

    owner.release()
    assert refused.exit_code == 1
    assert "is in use by another `referee up`" in refused.output


ROLE, PASSWORD = "guarded", "p@ss:w/or d%20'"  # with characters that a URL escapes


@pytest.fixture
def guarded(postgres_server: postgres.Server | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database whose owner must give a password."""
    if postgres_server is None:
        pytest.skip("PostgreSQL NOT RUN: no server could be started")
    monkeypatch.setenv("PATH", f"{postgres_server.programs}:{os.environ['PATH']}")
    rules = postgres_server.directory / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"host all {ROLE} 127.0.0.1/32 scram-sha-256\n{before}")
    escaped = PASSWORD.replace("'", "''")
    for statement in ("SELECT pg_reload_conf()", f"CREATE ROLE {ROLE} LOGIN PASSWORD '{escaped}'"):
        postgres_server.execute(statement)
    postgres_server.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}")
    url = URL.create("postgresql", ROLE, PASSWORD, "127.0.0.1", postgres_server.port, ROLE)
    database = Database(url.render_as_string(hide_password=False))
    try:
        yield database
    finally:
        database.dispose()
        rules.write_text(before)
        for statement in ("SELECT pg_reload_conf()", f"DROP DATABASE {ROLE} WITH (FORCE)", f"DROP ROLE {ROLE}"):
            postgres_server.execute(statement)


def test_K31_a_database_with_a_password_is_backed_up_and_restored(guarded: Database, tmp_path: Path) -> None:
    upgrade(guarded)
    world = World(guarded)
    played = world.play(world.bots(2))
    target = tmp_path / "backup.tar"
    settings = replace(settings_for(tmp_path), database_url=guarded.url.render_as_string(hide_password=False))

    backup.write_backup(guarded, MASTER_KEY, target)
    guarded.dispose()
    restored = restoring.restore(target, settings, replaces=True)

    assert (restored.inventory.counts["results"], restored.inventory.last_result) == (1, played.seq)
