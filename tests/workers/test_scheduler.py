"""A sweep of the scheduler closes deal groups that were left open, and deletes logs that are not kept any longer."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from referee.db.engine import Database
from referee.matches import matches
from referee.matches.deals import deal_groups
from referee.matches.states import DealGroupState
from referee.workflows.bots import retirement
from tests.database.world import FakeClock, World
from tests.surroundings import MASTER_KEY
from workers.scheduler import Scheduler


@pytest.fixture
def world(sqlite_url: str) -> World:
    return World(Database(sqlite_url, clock=FakeClock()))


def test_a_group_left_open_is_closed_by_the_next_sweep(world: World, tmp_path: Path) -> None:
    scheduler = Scheduler(world.database, nowhere(tmp_path), MASTER_KEY)
    sweeps = []
    for _ in range(2):
        group_id = leave_unclosed(world)
        count = 0
        while not is_closed(world, group_id):
            scheduler.sweep()
            count += 1
        sweeps.append(count)

    assert sweeps == [1, 1]


def test_statistics_of_sqlite_are_removed_by_the_next_sweep(world: World, tmp_path: Path) -> None:
    world.play(world.bots(2))
    with closing(sqlite3.connect(str(world.database.url.database))) as tool:
        tool.execute("ANALYZE")
        assert tool.execute("SELECT count(*) FROM sqlite_stat1").fetchone()[0] > 0

        Scheduler(world.database, nowhere(tmp_path), MASTER_KEY).sweep()

        assert tool.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'").fetchall() == []


def nowhere(tmp_path: Path) -> Redis:
    """Return a client of a Redis server that does not exist."""
    return Redis(unix_socket_path=str(tmp_path / "nowhere"), retry=Retry(NoBackoff(), 0))


def leave_unclosed(world: World) -> str:
    """Play one of two matches that share cards and retire a bot of the other. Return the id of their group."""
    tables = [world.bots(2), world.bots(2)]
    with world.database.write() as session:
        group = deal_groups.create_group(session, [bot for table in tables for bot in table], master_key=MASTER_KEY)
        for table in tables:
            world.matched(session, table, group=group)
    (claim,) = world.claim(1)
    world.finish(claim)
    with world.database.write() as session:
        played = {seat.bot_id for seat in matches.seats_of(session, [claim.match_id])[claim.match_id]}
        retirement.retire_bot(session, next(bot for table in tables for bot in table if bot not in played))
    return group.id


def is_closed(world: World, group_id: str) -> bool:
    with world.database.read() as session:
        return deal_groups.get_group(session, group_id).state == DealGroupState.REVEALED
