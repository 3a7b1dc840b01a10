"""A sweep of the scheduler closes deal groups that were left open, and deletes logs that are not kept any longer."""

import sqlite3
from contextlib import closing
from pathlib import Path

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from referee.matches.deals import deal_groups
from referee.matches.states import DealGroupState
from referee.matches.tables import StoredMatch
from referee.workflows.bots import retirement
from tests.database.checks import on_one_database
from tests.database.fixtures import world as world
from tests.database.world import World
from tests.surroundings import MASTER_KEY
from workers.scheduler import Scheduler

pytestmark = on_one_database


def test_a_group_left_open_is_closed_by_the_next_sweep(world: World, tmp_path: Path) -> None:
    scheduler = Scheduler(world.database, nowhere(tmp_path), MASTER_KEY)
    sweeps = []
    for _ in range(2):
        group_id = leave_unclosed(world)
        count = 0
        while world.read(deal_groups.get_group, group_id).state != DealGroupState.REVEALED:
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
    seated = dict(zip(world.sharing(tables), tables, strict=True))
    (claim,) = world.claim(1)
    world.finish(claim)
    del seated[claim.match_id]
    ((other, bot_ids),) = seated.items()
    world.write(retirement.retire_bot, bot_ids[0])
    return world.get_one(StoredMatch, other).group_id
