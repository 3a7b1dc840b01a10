"""Archives of logs: complete before anything is deleted, verified by their checksums, and replayed by the audit."""

import gzip
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from referee.match.signature import split_signature
from referee.match.verification import verify
from referee.matches.tables import MatchLog, Result
from referee.retention import archive_audit
from referee.retention.archive import INDEX, ArchiveError, LogArchive
from referee.retention.archive_audit import DeletedLogs
from referee.retention.rules import Kind
from tests.database.pruning import prune
from tests.database.world import World
from tests.retention.test_pruning import found, kept_logs

DAYS = 30


def audit_archive(world: World, folder: Path) -> DeletedLogs:
    with world.database.read() as session:
        return archive_audit.check_deleted(session, LogArchive(folder))


@pytest.fixture
def archived(world: World, tmp_path: Path) -> tuple[list[Result], Path]:
    """Return the results of three matches on two days whose logs were archived and pruned, and the archive."""
    bots, folder = world.bots(2), tmp_path / "archive"
    played = [world.play(bots), world.play(bots, choice=1)]
    world.clock.moment += timedelta(days=1)
    played.append(world.play(bots))
    world.clock.moment += timedelta(days=DAYS + 1)
    assert prune(world, Kind.LOGS, days=DAYS, archive=folder) == 3
    return played, folder


def test_F16_pruned_logs_are_replayed_from_the_archive(world: World, archived: tuple[list[Result], Path]) -> None:
    played, folder = archived

    report = audit_archive(world, folder)

    assert kept_logs(world) == set()
    assert found(world) == []
    assert (report.not_replayable, report.replayed, report.differences) == (3, 3, [])
    assert report.sentence() == "3 logs were pruned: signed, not replayable. 3 logs of the archive were replayed."
    assert sorted(path.name for path in folder.iterdir()) == ["2026-01-01", "2026-01-02"]
    (file,) = folder.glob(f"*/{played[0].match_id}.ndjson.gz")
    rows, signature = split_signature(gzip.decompress(file.read_bytes()).splitlines())
    assert verify(rows).ok
    assert signature is not None
    assert file.stat().st_mode & 0o077 == 0


def test_F16_a_log_that_was_changed_in_the_archive_or_removed_from_it_is_a_difference(
    world: World, archived: tuple[list[Result], Path]
) -> None:
    played, folder = archived
    changed, removed = (next(folder.glob(f"*/{result.match_id}.ndjson.gz")) for result in played[:2])
    changed.write_bytes(changed.read_bytes() + b"x")
    removed.unlink()

    differences = {difference.id: difference.stored for difference in audit_archive(world, folder).differences}

    assert differences.keys() == {played[0].match_id, played[1].match_id}
    assert "checksum" in differences[played[0].match_id]
    assert "cannot be read" in differences[played[1].match_id]


def test_F16_a_result_that_was_changed_after_pruning_does_not_fit_the_archive(
    world: World, archived: tuple[list[Result], Path]
) -> None:
    played, folder = archived
    with world.database.write() as session:
        of_it = Result.match_id == played[0].match_id
        session.execute(update(Result).where(of_it).values(placements=[2, 1], scores=[0, 9]))

    differences = audit_archive(world, folder).differences

    assert {(difference.kind, difference.id) for difference in differences} == {("result", played[0].match_id)}


def test_nothing_is_deleted_if_the_archive_cannot_be_written(world: World, tmp_path: Path) -> None:
    result = world.play(world.bots(2))
    world.clock.moment += timedelta(days=DAYS + 1)
    (tmp_path / "archive").write_text("a file in the place of the folder")

    with pytest.raises(ArchiveError, match="nothing more is deleted"):
        prune(world, Kind.LOGS, days=DAYS, archive=tmp_path / "archive")

    assert kept_logs(world) == {result.match_id}
    assert prune(world, Kind.LOGS, days=DAYS) == 1  # the failed run does not block the next


def test_an_index_names_each_log_once_however_often_it_was_archived(world: World, tmp_path: Path) -> None:
    result = world.play(world.bots(2))
    folder = LogArchive(tmp_path / "archive")
    log: Any = (result.match_id, world.clock.moment, b"content")

    folder.write([log])
    folder.write([log])

    (index,) = (tmp_path / "archive").glob(f"*/{INDEX}")
    (line,) = index.read_text().splitlines()
    assert json.loads(line)["match"] == result.match_id
    assert [archived.match for archived in folder.list_logs()] == [result.match_id]


def test_a_folder_without_an_archive_and_a_damaged_index_are_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="is not a folder"):
        audit_archive(world, tmp_path / "nowhere")

    (tmp_path / "2026-01-01").mkdir()
    (tmp_path / "2026-01-01" / INDEX).write_text("{\n")
    with pytest.raises(ArchiveError, match="Line 1 of"):
        audit_archive(world, tmp_path)


def test_the_log_of_another_match_in_the_archive_is_a_difference(
    world: World, archived: tuple[list[Result], Path]
) -> None:
    _, folder = archived
    with world.database.write() as session:
        session.execute(update(MatchLog).values(digest="0" * 64))

    assert len(audit_archive(world, folder).differences) == 3
