"""Backups of a PostgreSQL that asks for a password. The servers of the other tests trust every connection."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import URL

from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee_extras.backups import backup, restoring
from tests.database import postgres
from tests.database.world import World
from tests.surroundings import MASTER_KEY, settings_for

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
