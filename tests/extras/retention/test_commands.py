"""`referee admin prune`: output, exit statuses and refusals."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text

from referee.cli import main
from referee.db.engine import Database
from tests.database.databases import write_upgraded
from tests.database.full_disk import mounted
from tests.database.world import FakeClock, World
from tests.surroundings import MASTER_KEY

HERE = {"DATABASE_URL": "", "REFEREE_MASTER_KEY": MASTER_KEY.hex(), "REFEREE_KEEP_LOGS": "30 days"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with two matches that ended long ago."""
    folder = tmp_path / "data"
    database = Database(write_upgraded(folder / "referee.db"), clock=FakeClock())
    world = World(database)
    bots = world.bots(2)
    world.play(bots)
    world.clock.moment += timedelta(days=1)
    world.play(bots)
    database.dispose()
    return folder


def run(*words: str, **settings: str) -> Result:
    return CliRunner(env={**HERE, **settings}).invoke(main, words)


def test_a_dry_run_says_what_would_be_deleted_and_deletes_nothing(data: Path) -> None:
    result = run("admin", "prune", "--data", str(data), "--dry-run")

    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert lines[0] == ["kind", "to", "prune", "oldest", "MiB", "rule"]
    (logs,) = (line for line in lines if line[:2] == ["logs", "2"])
    assert logs[2] == "2026-01-01"
    assert "logs are kept for 30 days" in result.output
    assert "Nothing was deleted (--dry-run)." in result.output
    assert "signed, not replayable" not in run("admin", "audit", "--data", str(data)).output


def test_pruned_logs_are_counted_by_the_audit(data: Path) -> None:
    pruned = run("admin", "prune", "--data", str(data), "--compact")
    again = run("admin", "prune", "--data", str(data))
    audited = run("admin", "audit", "--data", str(data))
    as_json = run("admin", "audit", "--data", str(data), "--json")

    assert (pruned.exit_code, again.exit_code, audited.exit_code) == (0, 0, 0), pruned.output
    assert "logs: 2 pruned" in pruned.output
    assert "were given back to the disk" in pruned.output
    assert "There was nothing to delete." in again.output
    assert (
        audited.output
        == f"2 logs are signed, not replayable: pruned, or of a game that is not installed.\n{data}: no differences\n"
    )
    told = json.loads(as_json.output)
    assert (told["holds"], told["not_replayable"]) == (True, 2)


def test_a_service_that_uses_the_database_keeps_it_from_being_compacted(data: Path) -> None:
    database = Database(f"sqlite:///{data / 'referee.db'}")
    with database.read() as session:
        session.execute(text("SELECT count(*) FROM matches"))
        result = run("admin", "prune", "--data", str(data), "--compact", REFEREE_KEEP_LOGS="forever")
    database.dispose()

    assert result.exit_code == 1
    assert "Another process has" in result.output


def test_a_dry_run_cannot_compact(data: Path) -> None:
    assert run("admin", "prune", "--data", str(data), "--dry-run", "--compact").exit_code == 2


def content(database: Path) -> list[str]:
    """Return all rows but those of pruning runs, after a check of the whole file."""
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return sorted(line for line in connection.iterdump() if "retention_runs" not in line)


def compact_on(disk: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, because SQLite reads its environment once."""
    words = [sys.executable, "-m", "referee", "admin", "prune", "--data", str(disk)]
    given = {**os.environ, **HERE, "SQLITE_TMPDIR": str(disk), **environment}
    return subprocess.run([*words, "--compact"], env=given, capture_output=True, text=True, timeout=120, check=False)


def test_compacting_on_a_full_disk_says_what_was_done_and_loses_nothing(data: Path, tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", mib=40) as disk:
        database = disk / "referee.db"
        shutil.copy(data / "referee.db", database)
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("CREATE TABLE much AS SELECT randomblob(8000000) AS content")
        with (disk / "filler").open("wb") as filler:  # leaves room for one copy, and compacting needs two
            filler.write(bytes(shutil.disk_usage(disk).free - database.stat().st_size - 2_000_000))
        size = database.stat().st_size

        result = compact_on(disk)

        assert result.returncode == 1, result.stderr
        assert "logs: 2 pruned" in result.stdout
        assert "Traceback" not in result.stderr
        assert result.stderr.startswith(f"Error: {database} was not compacted (database or disk is full)")
        assert "set SQLITE_TMPDIR to a folder on another disk" in result.stderr
        assert database.stat().st_size == size
        kept = content(database)

        (disk / "filler").unlink()
        again = compact_on(disk)

        assert (again.returncode, again.stderr) == (0, "")
        assert "There was nothing to delete." in again.stdout
        assert "were given back to the disk" in again.stdout
        assert content(database) == kept


def test_compacting_that_the_system_forbids_is_told_in_a_sentence(data: Path, tmp_path: Path) -> None:
    program = "import resource, runpy, sys; limit = int(sys.argv.pop(1))\n"
    program += (
        "resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)); runpy.run_module('referee', run_name='__main__')"
    )
    size = (data / "referee.db").stat().st_size
    words = [
        sys.executable,
        "-c",
        program,
        str(size // 2),
        "admin",
        "prune",
        "--data",
        str(data),
        "--compact",
        "--json",
    ]
    given = {**os.environ, **HERE, "REFEREE_KEEP_LOGS": "forever"}

    result = subprocess.run(words, env=given, capture_output=True, text=True, timeout=120, check=False)

    assert result.returncode == 1, result.stderr
    assert json.loads(result.stdout)["freed"] is None
    assert "Traceback" not in result.stderr
    assert "was not compacted" in result.stderr
    assert content(data / "referee.db")
