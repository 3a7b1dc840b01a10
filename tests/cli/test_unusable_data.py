"""Each process and command that meets unusable data ends in one sentence, never in a traceback."""

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import surroundings
from tests.machine import require
from tests.surroundings import MASTER_KEY

PAGE = 4096
GIVEN = {
    "REDIS_URL": "redis://127.0.0.1:9/0",
    "REFEREE_MASTER_KEY": MASTER_KEY.hex(),
    "PYTHONPATH": str(Path(__file__).parent.parent.parent),
}
PROCESSES = {
    "api": ["gunicorn", "api.wsgi:app", "--bind", "127.0.0.1:0", "--no-control-socket"],
    "worker": ["workers.worker"],
    "scheduler": ["workers.scheduler"],
}


@pytest.fixture
def read_only(sqlite_template: Path, tmp_path: Path) -> Iterator[Path]:
    """A data directory on a file system that is mounted read-only."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(sqlite_template, folder)
    for arguments in (["--bind", str(folder), str(folder)], ["-o", "remount,ro,bind", str(folder)]):
        program = require("mount", "a read-only file system")
        mounted = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        if mounted.returncode:
            pytest.skip(f"NOT RUN: a read-only file system, which needs root ({mounted.stderr.strip()})")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def run(module: list[str], folder: Path, **settings: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", *module],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        cwd=folder.parent,
        env=surroundings(**(GIVEN | {"REFEREE_DATA": str(folder)} | settings)),
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("process", PROCESSES)
def test_E25_a_process_on_a_read_only_directory_ends_in_a_sentence(read_only: Path, process: str) -> None:
    status, said = run(PROCESSES[process], read_only)

    assert status in (2, 4)  # 4 is gunicorn's
    assert f"This process cannot write to {read_only}, in which SQLite needs to create files." in said
    assert "Traceback" not in said


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_with_an_invalid_setting_ends_in_a_sentence(tmp_path: Path, process: str) -> None:
    status, said = run(PROCESSES[process], tmp_path / "data", REFEREE_RUNNER_SLOTS="many")

    assert status in (2, 4)
    assert "REFEREE_RUNNER_SLOTS" in said
    assert "Traceback" not in said


def test_a_master_key_that_cannot_be_stored_is_named(read_only: Path) -> None:
    status, said = run(PROCESSES["worker"], read_only, REFEREE_MASTER_KEY="")

    assert status == 2
    assert re.search(r"master\.key\S* cannot be used: Read-only file system\. Make the directory writable", said)
    assert "Traceback" not in said


def test_K18_the_audit_of_a_database_with_unreadable_pages_ends_in_a_sentence(
    sqlite_template: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(sqlite_template, folder)
    file = folder / "referee.db"
    with sqlite3.connect(file) as connection:
        pages = [
            page for (page,) in connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'ladders'")
        ]
    connection.close()
    with file.open("r+b") as written:
        for page in filter(None, pages):
            written.seek(PAGE * (page - 1))
            written.write(b"\xff" * PAGE)

    status, said = run(["referee", "admin", "audit", "--data", str(folder)], folder)

    assert status == 1
    assert "Error: The database is damaged (database disk image is malformed). Stop the service and restore" in said
    assert "Traceback" not in said
