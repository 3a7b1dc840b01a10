"""Run every test of the database on both systems, or skip it on PostgreSQL where none can be started."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from referee import plugs
from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee.events import Event
from tests.database import postgres, reported
from tests.database.databases import kept, write_upgraded
from tests.database.databases import sqlite_url as sqlite_url_in
from tests.database.tables import all_tables
from tests.database.world import FakeClock, World

_why: list[str] = []


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server | None]:
    """Return a running server, or None if none can be started."""
    try:
        with postgres.server() as running:
            yield running
    except postgres.NoPostgres as error:
        _why.append(str(error))
        yield None


@pytest.fixture
def reported_events(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """Return a list that gets the events that the service reports to extras."""
    installed = (*plugs.extras(), reported.COLLECTOR)
    monkeypatch.setattr(plugs, "extras", lambda: installed)
    return reported.begin()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "template.db"
    write_upgraded(path)
    return path


@pytest.fixture(scope="session")
def postgres_filled(postgres_server: postgres.Server | None) -> str | None:
    """Return the URL of a database with the current schema; creating one per test would take a second each."""
    if postgres_server is None:
        return None
    postgres_server.execute("CREATE DATABASE filled")
    upgraded = Database(postgres_server.url("filled"))
    upgrade(upgraded)
    upgraded.dispose()
    return postgres_server.url("filled")


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database without a schema, on either system."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'referee.db'}"
    running = _server(request)
    url = running.url("postgres")
    running.end_sessions("postgres")
    running.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, sqlite_template: Path) -> str:
    """Return the URL of a database with the current schema and no rows, on either system."""
    if request.param == "sqlite":
        return sqlite_url_in(sqlite_template.parent, sqlite_template)
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """Return the URL of such a database on SQLite, a copy: to apply all migrations takes half a second of CPU time."""
    path = tmp_path / "referee.db"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of such a database on PostgreSQL."""
    running = _server(request)
    url: str = request.getfixturevalue("postgres_filled")
    running.clear("filled", [table.name for table in all_tables()])
    return url


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    opened = kept(url, FakeClock())
    yield opened
    opened.dispose()


@pytest.fixture
def world(database: Database) -> World:
    """Return the database with helpers that create accounts, bots and matches."""
    return World(database)


@pytest.fixture
def statements(world: World) -> Iterator[list[str]]:
    """Return a list to which every statement on the database is added."""
    seen: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        seen.append(statement)

    engine = world.database._engine  # that of a session is derived from it, and hears only its own statements
    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)


def _server(request: pytest.FixtureRequest) -> postgres.Server:
    running: postgres.Server | None = request.getfixturevalue("postgres_server")
    if running is None:
        if postgres.REQUIRED:
            pytest.fail(f"PostgreSQL is required here: {_why[0]}")
        pytest.skip(f"NOT RUN ON POSTGRESQL: {_why[0]}")
    return running
