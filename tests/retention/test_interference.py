"""What disturbs pruning: a second process, midnight, another service, a full disk, a damaged index."""

import errno
import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from referee.errors import BadLog
from referee.retention import pruning
from referee.retention.archive import INDEX, ArchivedLog, ArchiveError, LogArchive
from referee.retention.pruning import Pruner, PruningElsewhere
from referee.retention.rules import Kind
from referee.retention.tables import DiskUse, RetentionRun
from tests.database.pruning import prune, rules
from tests.database.world import World
from tests.surroundings import settings_for
from workers.nightly_pruner import LOOK_S, NightlyPruner

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


def test_F16_an_index_that_several_processes_write_loses_no_line(tmp_path: Path) -> None:
    def write(process: int) -> Callable[[], None]:
        def task() -> None:
            for number in range(10):
                LogArchive(tmp_path).write([(f"mat_{process}_{number}", DAY, b"log")])

        return task

    assert run_all(*map(write, range(4))) == []

    assert len(list(LogArchive(tmp_path).list_logs())) == 40
    assert list(tmp_path.glob("*/*.part")) == []


def test_a_full_disk_leaves_no_part_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", fail)

    with pytest.raises(ArchiveError, match="No space left"):
        LogArchive(tmp_path).write([("mat_1", DAY, b"log")])

    assert list(tmp_path.glob("*/*.part")) == []


def test_a_link_in_place_of_a_part_is_not_followed(tmp_path: Path) -> None:
    victim, folder = tmp_path / "victim", tmp_path / f"{DAY:%Y-%m-%d}"
    victim.write_text("kept")
    folder.mkdir()
    (folder / f"mat_1.ndjson.gz.{os.getpid()}.part").symlink_to(victim)

    LogArchive(tmp_path).write([("mat_1", DAY, b"log")])

    assert victim.read_text() == "kept"
    assert (folder / "mat_1.ndjson.gz").read_bytes() == b"log"


@pytest.mark.parametrize(
    "index", [b"\xff\xfe\n", b'{"match": 1, "file": 2, "sha256": 3, "bytes": 4, "ended_at": 5}\n', b"[]\n", b"null\n"]
)
def test_an_index_with_anything_in_it_is_refused_with_a_sentence(tmp_path: Path, index: bytes) -> None:
    folder = tmp_path / f"{DAY:%Y-%m-%d}"
    folder.mkdir()
    (folder / INDEX).write_bytes(index)
    archive = LogArchive(tmp_path)

    with pytest.raises(ArchiveError, match="index"):
        list(archive.list_logs())
    with pytest.raises(ArchiveError, match="index"):
        archive.write([("mat_1", DAY, b"log")])
    assert (folder / INDEX).read_bytes() == index


@pytest.mark.parametrize(
    "file", ["../outside.gz", "/dev/zero", "2026-01-01/../../outside.gz", "2026-01-01/mat_2.ndjson.gz"]
)
def test_an_index_names_no_file_but_that_of_the_match(tmp_path: Path, file: str) -> None:
    folder, line = tmp_path / "archive" / "2026-01-01", {"match": "mat_1", "sha256": "", "bytes": 0, "ended_at": ""}
    folder.mkdir(parents=True)
    (folder / INDEX).write_text(json.dumps({**line, "file": file}) + "\n")

    with pytest.raises(ArchiveError, match="names another file"):
        list(LogArchive(tmp_path / "archive").list_logs())


def test_a_pipe_in_place_of_an_archived_log_is_a_bad_log(tmp_path: Path) -> None:
    (tmp_path / "2026-01-01").mkdir()
    os.mkfifo(tmp_path / "2026-01-01" / "mat_1.ndjson.gz")

    with pytest.raises(BadLog, match="not a file"):
        LogArchive(tmp_path).read(ArchivedLog("mat_1", "2026-01-01/mat_1.ndjson.gz", "", 0, ""))
