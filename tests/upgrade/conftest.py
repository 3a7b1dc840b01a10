"""The fixtures on both databases: as they were, upgraded, and upgraded with everything under way finished."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask

from api import create_app
from referee.db.upgrading import upgrade
from referee.workflows.log_signing import sign_old_logs
from tests.database import postgres
from tests.surroundings import settings_for
from tests.upgrade.restoring import expectations, restore_postgresql, restore_sqlite
from tests.upgrade.service import Outcome, Upgraded, finish_everything

DATABASES = ("sqlite", "postgresql")


@pytest.fixture(scope="package")
def postgres_server() -> Iterator[postgres.Server]:
    try:
        with postgres.server() as running:
            yield running
    except postgres.NoPostgres as error:
        if postgres.REQUIRED:
            pytest.fail(f"PostgreSQL is required here: {error}")
        pytest.skip(f"NOT RUN ON POSTGRESQL: {error}")


@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """The application, which serves one database after the other: building it takes longer than most tests."""
    (key,) = {expectations(kind)["master_key"] for kind in DATABASES}
    return create_app(replace(settings_for(tmp_path_factory.mktemp("app")), master_key=bytes.fromhex(key)))


@pytest.fixture(scope="package", params=DATABASES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def restored(
    request: pytest.FixtureRequest, kind: str, tmp_path_factory: pytest.TempPathFactory, app: Flask
) -> Iterator[Upgraded]:
    """The fixture with the schema it was filled with."""
    folder = tmp_path_factory.mktemp("restored")
    service = Upgraded(folder, _restored(request, kind, folder), expectations(kind), app)
    yield service
    service.database.dispose()


@pytest.fixture(scope="package")
def upgraded(
    request: pytest.FixtureRequest, kind: str, tmp_path_factory: pytest.TempPathFactory, app: Flask
) -> Iterator[Upgraded]:
    """The fixture with the newest schema and signed logs, and no other change: matches in progress stay as they are."""
    folder = tmp_path_factory.mktemp("upgraded")
    service = Upgraded(folder, _restored(request, kind, folder), expectations(kind), app)
    upgrade(service.database, settle=lambda _: None)
    service.signed = sign_old_logs(service.database, service.settings.master_key)
    yield service
    service.database.dispose()


@pytest.fixture(scope="package")
def finished(
    request: pytest.FixtureRequest, kind: str, tmp_path_factory: pytest.TempPathFactory, app: Flask
) -> Iterator[tuple[Upgraded, Outcome]]:
    """Another copy of the fixture, upgraded, in which everything that was under way has been finished."""
    folder = tmp_path_factory.mktemp("finished")
    service = Upgraded(folder, _restored(request, kind, folder), expectations(kind), app)

    async def finish() -> Outcome:
        server = await service.bot_server().open()
        try:
            service.move_bots(server.url)
            service.upgrade()
            return await finish_everything(service, server)
        finally:
            await server.close()

    yield service, asyncio.run(finish())
    service.database.dispose()


def _restored(request: pytest.FixtureRequest, kind: str, folder: Path) -> str:
    if kind == "sqlite":
        return restore_sqlite(folder)
    return restore_postgresql(request.getfixturevalue("postgres_server"), folder.name)
