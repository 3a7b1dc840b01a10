"""Each process and command that meets unusable data or settings ends in one sentence, never in a traceback."""

import io
import logging
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from runpy import run_module

import pytest
from gunicorn.errors import AppImportError  # type: ignore[import-untyped]  # ships no types

from tests.cli.running import says
from tests.machine import require
from tests.surroundings import MASTER_KEY

PAGE = 4096
GIVEN = {"REDIS_URL": "redis://127.0.0.1:9/0", "REFEREE_MASTER_KEY": MASTER_KEY.hex()}
PROCESSES = ("api", "worker", "scheduler")

Start = Callable[..., str]


@pytest.fixture
def data(sqlite_template: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(sqlite_template, folder / "referee.db")
    return folder


@pytest.fixture
def read_only(data: Path) -> Iterator[Path]:
    """A data directory on a file system that is mounted read-only."""
    for arguments in (["--bind", str(data), str(data)], ["-o", "remount,ro,bind", str(data)]):
        program = require("mount", "a read-only file system")
        mounted = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        if mounted.returncode:
            pytest.skip(f"NOT RUN: a read-only file system, which needs root ({mounted.stderr.strip()})")
    yield data
    subprocess.run(["umount", "--lazy", data], check=True)


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a process of the service within this one, where it must refuse; return what it logs."""
    root, before = logging.getLogger(), (logging.getLogger().handlers[:], logging.getLogger().level)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)

    def start(process: str, folder: Path, **settings: str) -> str:
        for name, value in (GIVEN | {"DATABASE_URL": "", "REFEREE_DATA": str(folder)} | settings).items():
            monkeypatch.setenv(name, value)
        said = io.StringIO()
        monkeypatch.setattr("sys.stderr", said)
        if process == "api":
            with pytest.raises(AppImportError):  # which Gunicorn prints, and ends
                run_module("api.wsgi")
        else:
            assert import_module(f"workers.{process}").main() == 2
        assert "Traceback" not in said.getvalue()
        return said.getvalue()

    yield start
    root.handlers, root.level = before
    for number, handler in handlers.items():
        signal.signal(number, handler)
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("process", PROCESSES)
def test_E25_a_process_on_a_read_only_directory_ends_in_a_sentence(start: Start, read_only: Path, process: str) -> None:
    written = f"This process cannot write to {read_only}, in which SQLite needs to create files."

    assert written in start(process, read_only)
    if process == "worker":
        said = start(process, read_only, REFEREE_MASTER_KEY="")
        assert re.search(r"master\.key\S* cannot be used: Read-only file system\. Make the directory writable", said)


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_with_an_invalid_setting_or_another_schema_ends_in_a_sentence(
    start: Start, data: Path, process: str
) -> None:
    with sqlite3.connect(data / "referee.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()

    assert "The database has schema 9999, made by a newer version of Referee" in start(process, data)
    assert "REFEREE_RUNNER_SLOTS" in start(process, data, REFEREE_RUNNER_SLOTS="many")


def test_K18_the_audit_of_a_database_with_unreadable_pages_ends_in_a_sentence(data: Path) -> None:
    with sqlite3.connect(data / "referee.db") as connection:
        found = connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'ladders'").fetchall()
    connection.close()
    with (data / "referee.db").open("r+b") as written:
        for page in (page for (page,) in found if page):
            written.seek(PAGE * (page - 1))
            written.write(b"\xff" * PAGE)

    said = says({"DATABASE_URL": None}, "admin", "audit", "--data", str(data), status=1).output

    assert "Error: The database is damaged (database disk image is malformed). Stop the service and restore" in said
    assert "Traceback" not in said
