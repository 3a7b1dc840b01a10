"""`referee admin backup` and `referee admin restore`: their output, exit statuses, and refusals."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.cli import main
from referee.db.engine import Database
from referee.runtime.data_dir import DataDir
from referee.settings import environment
from tests.database.databases import write_upgraded
from tests.database.world import World
from tests.surroundings import MASTER_KEY

HERE = {"DATABASE_URL": "", "REFEREE_MASTER_KEY": MASTER_KEY.hex()}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_upgraded(tmp_path / "data" / "referee.db")
    return tmp_path / "data"


def administer(*words: str) -> None:
    """Run `referee admin` in a process of its own, which closes the database at its end."""
    subprocess.run([sys.executable, "-m", "referee", "admin", *words], env=environment(**HERE), check=True)


def run(*words: str) -> Result:
    return CliRunner(env=HERE).invoke(main, words)


def test_a_backup_is_described_and_restored_and_audited(data: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "backup.tar")
    administer("create", "Before", "--data", str(data))

    written, checked = run("admin", "backup", file, "--data", str(data)), run("admin", "backup", "--check", file)
    administer("create", "After", "--data", str(data))
    restored = run("admin", "restore", file, "--data", str(data), "--replace")

    assert (written.exit_code, checked.exit_code, restored.exit_code) == (0, 0, 0), restored.output
    assert written.output.startswith(f"{file} is complete.\nMade at 20")
    assert "1 accounts, 0 bots, 0 tournaments, 0 matches, 0 acts, 0 results" in checked.output
    assert "0 open matches cancelled; 0 rematches arranged." in restored.output
    assert restored.output.endswith(f"{data}: no differences\n")
    with sqlite3.connect(data / "referee.db") as database:
        assert database.execute("SELECT name FROM accounts").fetchall() == [("Before",)]


def test_an_inventory_is_one_json_object(data: Path, tmp_path: Path) -> None:
    written = run("admin", "backup", str(tmp_path / "backup.tar"), "--data", str(data), "--json")

    inventory = json.loads(written.output)
    assert (inventory["format"], inventory["database"], inventory["last_result"]) == (1, "sqlite", 0)


def test_the_audit_decides_the_exit_status_of_a_restore(data: Path, tmp_path: Path) -> None:
    world = World(Database(f"sqlite:///{data / 'referee.db'}"))
    world.play(world.bots(2))
    world.database.dispose()
    with closing(sqlite3.connect(data / "referee.db", isolation_level=None)) as database:
        database.execute("UPDATE ratings SET value = value + 1")
    file = str(tmp_path / "backup.tar")
    run("admin", "backup", file, "--data", str(data))

    restored = run("admin", "restore", file, "--data", str(data), "--replace")
    trusting = run("admin", "restore", file, "--data", str(data), "--replace", "--no-audit")

    assert (restored.exit_code, trusting.exit_code) == (1, 0)
    assert "differ" in restored.output


def test_the_directory_of_a_running_service_is_refused(data: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "backup.tar")
    run("admin", "backup", file, "--data", str(data))
    owner = DataDir(data)
    owner.acquire()

    refused = run("admin", "restore", file, "--data", str(data), "--replace")

    owner.release()
    assert refused.exit_code == 1
    assert "is in use by another `referee up`" in refused.output


def test_refusals_are_sentences(data: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "backup.tar")
    run("admin", "backup", file, "--data", str(data))

    again = run("admin", "backup", file, "--data", str(data))
    nowhere = run("admin", "backup", str(tmp_path / "none" / "b.tar"), "--data", str(data))
    existing = run("admin", "restore", file, "--data", str(data))
    none = run("admin", "restore", str(tmp_path / "none.tar"), "--data", str(data))

    assert [result.exit_code for result in (again, nowhere, existing, none)] == [1, 1, 1, 1]
    assert again.output == f"Error: {file} exists already. Choose another name, or remove the file.\n"
    assert "There is no directory" in nowhere.output
    assert "Pass --replace" in existing.output
    assert "does not exist" in none.output
