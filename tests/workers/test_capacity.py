"""A runner whose host lacks file descriptors plays fewer matches, and all of them to their end."""

import asyncio
import multiprocessing
import os
import resource
from multiprocessing.connection import Connection

import pytest

from referee.db.engine import Database
from referee.settings import Settings
from tests.workers.conftest import SHORT, Clock, World
from workers.capacity import MAX_REST_S, SUCCESSES_PER_RISE, Capacity
from workers.runner import Runner
from workers.runner_counters import RunnerCounters

SPARE = 14  # descriptors for the event loop, the database and about three connections


def test_K24_a_shortage_leaves_what_ran_on_and_matches_that_end_raise_the_limit(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    capacity = Capacity(10, clock)
    assert not capacity.is_resting

    for running in (8, 8, 7, 6, 6):  # five fail at the same moment, and some end only later
        capacity.note_shortage(running, "too many open files")
    assert (capacity.limit, capacity.is_resting) == (3, True)
    assert [record.getMessage() for record in caplog.records] == ["runner_lacks_resources"]
    clock.now_s += 1
    assert not capacity.is_resting
    for _ in range(7 * SUCCESSES_PER_RISE):
        capacity.note_success()
    assert capacity.limit == 10
    for _ in range(SUCCESSES_PER_RISE):
        capacity.note_success()
    assert capacity.limit == 10


def test_K24_a_runner_that_cannot_play_even_one_match_tries_less_and_less_often() -> None:
    clock = Clock()
    capacity = Capacity(10, clock)

    rests = []
    for _ in range(9):
        capacity.note_shortage(1, "too many open files")
        began = clock.now_s
        while capacity.is_resting:
            clock.now_s += 0.5
        rests.append(clock.now_s - began)

    assert rests == [1, 2, 4, 8, 16, 32, MAX_REST_S, MAX_REST_S, MAX_REST_S]
    assert capacity.limit == 1
    capacity.note_success()
    capacity.note_shortage(1, "too many open files")
    clock.now_s += 1
    assert not capacity.is_resting


def run_short_of_descriptors(settings: Settings, answer: "Connection[RunnerCounters, None]") -> None:
    """Run a runner in this process, which may open only a few more files."""
    limit = len(os.listdir("/proc/self/fd")) + SPARE
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    database = Database.from_settings(settings)
    answer.send(asyncio.run(Runner(settings, database).run()))
    database.dispose()


async def test_K24_a_runner_without_descriptors_takes_fewer_matches_and_ends_them(world: World) -> None:
    fork = multiprocessing.get_context("fork")

    async with world.houses("first", "first"):
        ids = [world.arrange("pool-nap", world.bot_ids, options=SHORT) for _ in range(14)]
        world.database.dispose()  # SQLite connections must not cross a fork
        ours, theirs = fork.Pipe(duplex=False)
        runner = fork.Process(target=run_short_of_descriptors, args=(world.settings, theirs))
        runner.start()
        theirs.close()
        try:
            counters = await asyncio.wait_for(asyncio.to_thread(ours.recv), 120)
        finally:
            runner.kill()
            await asyncio.to_thread(runner.join)

    assert {world.status(match_id) for match_id in ids} == {"finished"}
    assert {faults for match_id in ids for faults in world.faults(match_id)} == {0}
    assert 0 < counters.handed_over < 20  # those of the first claims, and one for each match too many later
