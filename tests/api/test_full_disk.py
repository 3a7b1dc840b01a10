"""A disk that is really full, under the database of the API and of another process: nothing happens by half."""

from dataclasses import replace
from pathlib import Path

from api import create_app
from referee.accounts import accounts
from referee.db.engine import Database
from referee.errors import Unavailable
from tests.api.conftest import API, Service
from tests.database.databases import write_upgraded
from tests.database.full_disk import fill, mounted
from tests.surroundings import settings_for


def post(service: Service, name: str) -> tuple[int, bool]:
    """Return the status of an attempt to open an account, and whether the reply asks to come back."""
    reply = service.anonymous().post(f"{API}/accounts", json={"name": name})
    return reply.status_code, "Retry-After" in reply.headers


def store(database: Database, name: str) -> bool:
    """Open an account as another process does. Return whether it was stored."""
    try:
        with database.write() as session:
            accounts.create_account(session, name)
    except Unavailable:
        return False
    return True


def test_E25_K16_a_full_disk_is_told_and_forgotten_when_there_is_room(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", mib=12) as disk:
        settings = replace(settings_for(disk), rate_limits=False, database_url=write_upgraded(disk / "referee.db"))
        service, other = Service(create_app(settings), settings), Database(settings.database_url, write_wait_s=30)
        assert (post(service, "first api"), store(other, "first other")) == ((201, False), True)
        filler = fill(disk)
        names = iter(range(1000))
        while post(service, f"filling {next(names)}")[0] == 201:  # the write-ahead log may have room left
            pass

        full = post(service, "lost api"), store(other, "lost other")
        read, ready = (service.anonymous().get(path) for path in (f"{API}/bots", "/readyz"))
        filler.unlink()
        after = post(service, "lost api"), store(other, "lost other")
        for database in (service.database, other):
            database.dispose()

    assert full == ((503, True), False)
    assert read.status_code == 200
    assert (ready.status_code, ready.get_json()["database"]) == (503, "unwritable")
    assert after == ((201, False), True)  # each name is free: nothing of it was stored
