"""A disk that is really full, under the database of several processes: nothing happens by half, and reads go on."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.serving import Server, serving
from tests.database.full_disk import fill, mounted
from tests.end_to_end.processes import until

# Another process that writes, as a worker does, with what it got told on standard input.
WRITER = """
import sys
from referee.accounts import accounts
from referee.db.engine import Database
from referee.errors import Unavailable
database = Database("sqlite:///" + sys.argv[1], write_wait_s=1)
for line in sys.stdin:
    try:
        with database.write() as session:
            accounts.create_account(session, line.strip())
        print("stored", flush=True)
    except Unavailable as error:
        print("unavailable", flush=True)
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", mib=12) as folder:
        yield folder


def post(server: Server, name: str) -> tuple[int, str]:
    reply = server.ask(
        "POST", "/api/v1/accounts", ["Content-Type: application/json"], json.dumps({"name": name}).encode()
    )
    return reply.status, reply.headers.get("retry-after", "")


def test_E25_K16_a_full_disk_is_told_by_all_processes_and_forgotten_when_there_is_room(disk: Path) -> None:
    with serving(disk, 4) as server:
        other = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(disk / "referee.db")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent.parent)},
        )

        def store(name: str) -> str:
            assert other.stdin is not None
            assert other.stdout is not None
            other.stdin.write(name + "\n")
            other.stdin.flush()
            return other.stdout.readline().strip()

        try:
            assert (post(server, "first api"), store("first other")) == ((201, ""), "stored")
            filler = fill(disk)
            names = iter(range(1000))
            while post(server, f"filling {next(names)}")[0] == 201:  # the write-ahead log may have room left
                pass

            full = post(server, "lost api"), store("lost other")
            read = server.ask("GET", "/api/v1/bots").status
            # The result of the last check is kept for 3 s.
            ready = until(
                lambda: (r := server.ask("GET", "/readyz")).status == 503 and r, "readiness that tells it", 20
            )
            filler.unlink()
            after = post(server, "lost api")[0], store("lost other")
        finally:
            other.kill()
            other.communicate()

    assert full == ((503, full[0][1]), "unavailable")
    assert full[0][1]
    assert read == 200
    assert (ready.status, ready.json()["database"]) == (503, "unwritable")
    assert after == (201, "stored")  # each name is free: nothing of it was stored
