"""What disturbs pruning: a second process, midnight, a missing directory."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from referee_extras.retention import pruning
from referee_extras.retention.nightly_pruner import LOOK_S, NightlyPruner
from referee_extras.retention.pruning import Pruner, PruningElsewhere
from referee_extras.retention.rules import Kind
from referee_extras.retention.tables import DiskUse, RetentionRun
from tests.database.world import World
from tests.extras.retention.pruning import prune, rules
from tests.surroundings import settings_for

DAYS = 30
DAY = datetime(2026, 1, 1, tzinfo=UTC)


def run_all(*tasks: Callable[[], None]) -> list[BaseException]:
    """Run all tasks at the same time. Return what they raised."""
    start = threading.Barrier(len(tasks))

    def run(task: Callable[[], None]) -> None:
        start.wait(10)
        task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        futures = [pool.submit(run, task) for task in tasks]
    return [error for future in futures if (error := future.exception())]


def test_of_pruners_that_start_at_the_same_moment_one_is_told_that_the_other_prunes(world: World) -> None:
    pruners = [Pruner(world.database, rules(Kind.LOGS, days=DAYS)) for _ in range(4)]

    raised = run_all(*(pruner.start for pruner in pruners))

    assert [type(error) for error in raised] == [PruningElsewhere] * 3
    assert sum(pruner.is_started for pruner in pruners) == 1


def test_a_pruner_of_yesterday_keeps_others_away_after_midnight(world: World) -> None:
    world.clock.moment = world.clock.moment.replace(hour=23, minute=59)
    Pruner(world.database, rules(Kind.LOGS, days=DAYS)).start()
    world.clock.moment += timedelta(minutes=2)
    other = Pruner(world.database, rules(Kind.LOGS, days=DAYS))

    with pytest.raises(PruningElsewhere):
        other.start()

    world.clock.moment += pruning.ABANDONED
    other.run()


def test_what_several_runs_of_a_day_delete_is_added_up(world: World) -> None:
    bots = world.bots(2)
    world.play(bots)
    world.clock.moment += timedelta(hours=1)
    world.play(bots)
    world.clock.moment += timedelta(days=DAYS, minutes=-30)

    assert prune(world, Kind.LOGS, days=DAYS) == 1
    world.clock.moment += timedelta(hours=1)
    assert prune(world, Kind.LOGS, days=DAYS) == 1

    with world.database.read() as session:
        (run,) = session.scalars(select(RetentionRun))
        assert run.deleted["logs"][0] == 2


def test_a_host_without_a_data_directory_measures_and_prunes(world: World, tmp_path: Path) -> None:
    world.clock.moment += timedelta(days=1, hours=6)
    settings = replace(settings_for(tmp_path / "missing" / "data"), database_url=str(world.database.url))
    pruner = NightlyPruner(world.database, settings)

    while pruner.step() != LOOK_S:
        pass

    with world.database.read() as session:
        (use,), (run,) = session.scalars(select(DiskUse)).all(), session.scalars(select(RetentionRun)).all()
    assert use.free_bytes > 0
    assert run.finished_at is not None
