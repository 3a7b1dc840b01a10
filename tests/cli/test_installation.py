"""Commands on local data: without a database with the right schema they refuse and leave no trace."""

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.cli import main
from referee.db.revisions import required_revision
from referee.games import catalogue
from tests.cli.running import UMASK
from tests.database.databases import write_upgraded

COMMANDS = [  # that open a database as it is
    ["admin", "audit"],
    ["admin", "audit", "--read-only"],
    ["admin", "audit", "--repair"],
    ["admin", "create", "Olga"],
    ["admin", "token", "Olga"],
    ["admin", "role", "Olga", "owner"],
    ["admin", "retry", "mat_0"],
]
MAKING = [["admin", "upgrade"], ["up", "--port", "0"]]  # or create it


def run(folder: Path, *arguments: str, **environment: str) -> Result:
    clean = {"REFEREE_MASTER_KEY": None, "DATABASE_URL": None}
    return CliRunner(env=clean | {"REFEREE_DATA": str(folder)} | environment).invoke(main, arguments)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def newer(folder: Path) -> str:
    write_upgraded(folder / "referee.db")
    with closing(sqlite3.connect(folder / "referee.db")) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    return "The database has schema 9999, made by a newer version of Referee"


def older(folder: Path) -> str:
    newer(folder)
    with closing(sqlite3.connect(folder / "referee.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0002'")
        connection.commit()
    return "The database has schema 0002, made before version 1.0 of Referee, and cannot be upgraded."


def in_use(folder: Path) -> str:
    """Return a database with a write-ahead log, as of a service that is running or was killed."""
    said = newer(folder)
    with sqlite3.connect(folder / "referee.db") as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE alembic_version SET version_num = '9998'")
        connection.commit()
        kept = contents(folder)
    connection.close()
    for name, content in kept.items():
        (folder / name).write_bytes(content)
    assert "referee.db-wal" in kept
    return said.replace("9999", "9998")


def without_tables(folder: Path) -> str:
    (folder / "referee.db").touch()
    return f"The database has no tables yet; this version of Referee needs schema {required_revision()}."


@pytest.mark.parametrize("state", [older, newer, in_use, without_tables])
def test_a_database_with_another_schema_is_refused_in_a_sentence_and_not_touched(
    tmp_path: Path, state: Callable[[Path], str]
) -> None:
    said = state(tmp_path)
    before = contents(tmp_path)

    for command in COMMANDS:
        refused = run(tmp_path, *command)

        after = contents(tmp_path)
        after.pop("referee.db-shm", None), before.pop("referee.db-shm", None)  # SQLite's locks
        assert (refused.exit_code, refused.stdout) == (1, ""), command
        assert refused.stderr.startswith(f"Error: {said}")
        assert after == before


def test_where_there_is_no_database_none_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"

    for command in COMMANDS:
        for environment in ({}, {"DATABASE_URL": f"sqlite:///{folder}/other.db"}):
            refused = run(folder, *command, **environment)
            assert (refused.exit_code, refused.stdout) == (1, ""), command
            assert refused.stderr.startswith(f"Error: There is no database in {folder}. Pass the data directory")
    assert not list(tmp_path.iterdir())


def test_a_data_directory_that_cannot_be_used_is_named_in_a_sentence(tmp_path: Path) -> None:
    write_upgraded(tmp_path / "referee.db")
    for lock in ("up.lock", "referee.db.lock"):  # as good as another user's, and also where root runs the tests
        (tmp_path / lock).unlink(missing_ok=True)
        (tmp_path / lock).mkdir()

    for command in (["admin", "create", "Olga"], *MAKING):
        refused = run(tmp_path, *command)
        assert (refused.exit_code, refused.stdout) == (1, ""), command
        assert refused.stderr.startswith(f"Error: {tmp_path}/")
        assert ".lock cannot be used: Is a directory. Choose another path, or run" in refused.stderr


def test_a_database_that_is_none_of_ours_or_damaged_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path, commands = tmp_path / "referee.db", (["admin", "audit"], ["admin", "create", "Olga"], *MAKING)
    newer(tmp_path)
    contents = (b"not a database " * 1000, path.read_bytes()[:9000])

    for command in commands:
        for url in ("secret", "mysql://a:secret@b/c", "postgresql://a:secret@b:port/c"):
            refused = run(tmp_path, *command, DATABASE_URL=url)
            assert (refused.exit_code, refused.stdout) == (1, ""), command
            assert refused.stderr.startswith("Error: DATABASE_URL must be like postgresql://")
            assert "secret" not in refused.output
        for content in contents:
            path.write_bytes(content)
            refused = run(tmp_path, *command)
            assert (refused.exit_code, refused.stdout) == (1, ""), command
            assert refused.stderr.startswith(f"Error: {path} is damaged or not a database (")
            assert path.read_bytes() == content


def test_a_schema_that_this_version_does_not_know_is_not_upgraded(tmp_path: Path) -> None:
    said = newer(tmp_path)
    before = dumped(tmp_path)

    for command in MAKING:
        refused = run(tmp_path, *command)
        assert (refused.exit_code, f"Error: {said}" in refused.stderr) == (1, True), refused.stderr
        assert "Traceback" not in refused.stderr
        assert dumped(tmp_path) == before


def dumped(data: Path) -> list[str]:
    with closing(sqlite3.connect(data / "referee.db")) as connection:
        return list(connection.iterdump())


def test_the_operator_creates_a_database(tmp_path: Path) -> None:
    upgraded = run(tmp_path, "admin", "upgrade")

    *ladders, last = upgraded.stdout.splitlines()
    assert last == f"The schema is at revision {required_revision()}."
    assert len(ladders) == len(catalogue())
    assert all(line.startswith("ladder lad_") for line in ladders)
    assert run(tmp_path, "admin", "audit").output == f"{tmp_path}: no differences\n"


def test_D9_a_database_that_is_made_by_hand_is_private(tmp_path: Path) -> None:
    before = os.umask(UMASK)
    try:
        assert run(tmp_path, "admin", "upgrade", "--data", str(tmp_path / "data")).exit_code == 0
    finally:
        os.umask(before)

    paths = (tmp_path / "data", *(tmp_path / "data").iterdir())
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in paths}
    assert modes == {"data": 0o700, "referee.db": 0o600, "referee.db.lock": 0o600, "master.key": 0o600}
