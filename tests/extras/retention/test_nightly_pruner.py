"""The pruning of each night: once a day, in portions, with the use of the disk."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from referee.db.engine import Database
from referee.matches.tables import StoredMatch
from referee.settings import Settings
from referee_extras.retention import disk_use, pruning
from referee_extras.retention.limits import Keep
from referee_extras.retention.nightly_pruner import LOOK_S, REST_S, NightlyPruner
from referee_extras.retention.rules import RetentionSettings
from referee_extras.retention.tables import DiskUse, RetentionRun
from tests.database.world import START, FakeClock, World
from tests.surroundings import settings_for


@pytest.fixture
def world(sqlite_url: str) -> World:
    return World(Database(sqlite_url, clock=FakeClock()))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(settings_for(tmp_path), of_extras={"retention": RetentionSettings(keep_logs=Keep(days=30))})


def pruned(world: World) -> int:
    with world.database.read() as session:
        return len(session.scalars(select(StoredMatch.id).where(StoredMatch.log_deleted_at.is_not(None))).all())


def finish(pruner: NightlyPruner) -> int:
    """Run steps until there is nothing more to do. Return their number."""
    steps = 1
    while pruner.step() == REST_S:
        steps += 1
    return steps


def test_old_logs_are_pruned_in_steps_once_a_day(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "ROWS_PER_PORTION", 2)
    bots = world.bots(2)
    for _ in range(3):
        world.play(bots)
    world.clock.moment += timedelta(days=40)
    pruner = NightlyPruner(world.database, settings)
    early = world.clock.moment.replace(hour=3, minute=59)

    world.clock.moment = early
    assert pruner.step() == LOOK_S
    assert pruned(world) == 0
    world.clock.moment = early + timedelta(minutes=2)
    assert finish(pruner) > 3
    assert pruned(world) == 3
    assert finish(pruner) == 1

    with world.database.read() as session:
        (run,) = session.scalars(select(RetentionRun))
        (measured,) = session.scalars(select(DiskUse))
    assert (run.day, run.deleted["logs"][0], run.finished_at is not None) == (early.date(), 3, True)
    assert measured.parts["logs"]["rows"] == 3


def test_of_two_schedulers_one_prunes(world: World, settings: Settings) -> None:
    world.play(world.bots(2))
    world.clock.moment += timedelta(days=40, hours=5)
    first, second = NightlyPruner(world.database, settings), NightlyPruner(world.database, settings)

    assert first.step() == REST_S
    assert second.step() == LOOK_S
    finish(first)

    assert pruned(world) == 1


def test_growth_and_the_days_that_are_left_follow_from_what_was_measured(world: World, settings: Settings) -> None:
    with world.database.write() as session:
        for day, used in enumerate((1000, 3000, 5000)):
            moment = START + timedelta(days=day)
            parts = {"logs": {"rows": 1, "bytes": used}}
            disk_use.store(
                session,
                DiskUse(
                    day=moment.date(), measured_at=moment, database_bytes=used, free_bytes=20_000 - used, parts=parts
                ),
            )

    with world.database.read() as session:
        latest = disk_use.find_latest(session)
        assert latest is not None
        growth = disk_use.find_growth(session, latest)

    assert latest.free_bytes == 15_000
    assert (growth.bytes_per_day, growth.days_left) == (2000, 7)


def test_the_parts_add_up_to_the_database_and_the_files(world: World, settings: Settings) -> None:
    (settings.data_dir / "logs").mkdir()
    (settings.data_dir / "logs" / "api.log").write_bytes(b"x" * 100)
    (settings.data_dir / "backup.tar").write_bytes(b"x" * 200)
    world.play(world.bots(2))

    with world.database.read() as session:
        measured = disk_use.measure(session, settings.data_dir)
        assert disk_use.find_growth(session, measured) == disk_use.Growth(None, None)

    sizes = {name: part["bytes"] for name, part in measured.parts.items()}
    assert (sizes["process_logs"], sizes["backups"]) == (100, 200)
    assert sum(sizes.values()) == measured.database_bytes + 300
    assert sizes["logs"] > 100
    assert measured.free_bytes > 0
