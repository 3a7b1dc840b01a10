"""A disk that is really full, under the database of two processes: nothing happens by half, and reads go on."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.accounts import accounts
from referee.db.engine import Database
from referee.errors import Unavailable
from tests.api.serving import Server, serving
from tests.database.full_disk import fill, mounted
from tests.end_to_end.processes import until


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", mib=12) as folder:
        yield folder


def post(server: Server, name: str) -> tuple[int, bool]:
    """Return the status of an attempt to open an account, and whether the reply asks to come back."""
    body = json.dumps({"name": name}).encode()
    reply = server.ask("POST", "/api/v1/accounts", ["Content-Type: application/json"], body)
    return reply.status, "retry-after" in reply.headers


def store(database: Database, name: str) -> bool:
    """Open an account as another process does. Return whether it was stored."""
    try:
        with database.write() as session:
            accounts.create_account(session, name)
    except Unavailable:
        return False
    return True


def test_E25_K16_a_full_disk_is_told_by_all_processes_and_forgotten_when_there_is_room(disk: Path) -> None:
    with serving(disk, 4) as server:
        other = Database(f"sqlite:///{disk / 'referee.db'}", write_wait_s=30)
        assert (post(server, "first api"), store(other, "first other")) == ((201, False), True)
        filler = fill(disk)
        names = iter(range(1000))
        while post(server, f"filling {next(names)}")[0] == 201:  # the write-ahead log may have room left
            pass

        full = post(server, "lost api"), store(other, "lost other")
        read = server.ask("GET", "/api/v1/bots").status
        # The result of the last check is kept for 3 s.
        ready = until(lambda: (r := server.ask("GET", "/readyz")).status == 503 and r, "readiness that tells it", 30)
        filler.unlink()
        after = post(server, "lost api"), store(other, "lost other")
        other.dispose()

    assert full == ((503, True), False)
    assert read == 200
    assert (ready.status, ready.json()["database"]) == (503, "unwritable")
    assert after == ((201, False), True)  # each name is free: nothing of it was stored
