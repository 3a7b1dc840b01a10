"""Recorded decisions survive a crash of the database, since bots have been asked further questions based on them."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee.errors import Unavailable
from referee.matches.recording import MatchUpdate
from tests.database import postgres
from tests.database.world import FakeClock, World
from tests.end_to_end.processes import gone, until
from tests.surroundings import MASTER_KEY
from workers.database_thread import DatabaseThread


@pytest.fixture
def server() -> Iterator[postgres.Server]:
    """Return a server that flushes a commit if somebody waits for it, and otherwise only after ten seconds."""
    try:
        with postgres.server(wal_writer_delay="10s") as running:
            yield running
    except postgres.NoPostgres as error:
        if postgres.REQUIRED:
            pytest.fail(f"PostgreSQL is required here: {error}")
        pytest.skip(f"NOT RUN ON POSTGRESQL: {error}")


def test_K17_a_recorded_decision_outlives_a_crash_of_the_database(server: postgres.Server) -> None:
    database = Database(server.url("postgres"), clock=FakeClock())
    upgrade(database)
    world = World(database)
    match_id = world.match()
    (claim,) = world.claim()

    def kill_a_backend() -> None:
        backends = server.backends()
        os.kill(backends[0], signal.SIGKILL)
        until(lambda: all(gone(pid) for pid in backends), "the end of all sessions, to which one that is killed leads")

    def kill_the_server() -> None:
        server.kill()
        server.start()

    crashes: list[Callable[[], None]] = [kill_a_backend, kill_the_server]
    rows: list[bytes] = []
    for crash in crashes:
        line = b'{"before": "%s"}' % crash.__name__.encode()
        with closing(DatabaseThread(database, master_key=MASTER_KEY)) as thread:
            asyncio.run(thread.record(MatchUpdate(match_id, claim.epoch, len(rows), [line])))
            rows.append(line)

            crash()

        until(lambda: answers(world, match_id), "an answer of the database")
        assert world.load(match_id).lines == rows, crash.__name__
    database.dispose()


def answers(world: World, match_id: str) -> bool:
    """Return whether the database has recovered."""
    try:
        world.load(match_id)
    except Unavailable:
        return False
    return True
