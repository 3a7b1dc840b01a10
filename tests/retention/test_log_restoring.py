"""Archived logs that are stored again: as they were, only if they fit, and once."""

import gzip
import hashlib
import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from referee.accounts.act_kinds import ActKind
from referee.accounts.oversight_tables import Act
from referee.errors import LogDeleted
from referee.match.signature import split_signature
from referee.matches import log_pruning, logs
from referee.matches.recording import MatchUpdate, record_batch
from referee.matches.tables import Result, SignedLog, StoredMatch
from referee.retention.archive import INDEX, ArchiveError, LogArchive
from referee.retention.rules import Kind
from referee.workflows import match_cancellation
from referee.workflows.log_restoring import RestoringReport, restore_logs
from tests.database.pruning import prune
from tests.database.world import World
from tests.retention.test_archive import DAYS, audit_archive
from tests.retention.test_pruning import found, kept_logs
from tests.surroundings import MASTER_KEY


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def pruned(world: World, folder: Path) -> list[Result]:
    """Return the results of two matches whose logs were archived and pruned."""
    bots = world.bots(2)
    played = [world.play(bots), world.play(bots, choice=1)]
    world.clock.moment += timedelta(days=DAYS + 1)
    assert prune(world, Kind.LOGS, days=DAYS, archive=folder) == 2
    return played


def restore(world: World, folder: Path, *match_ids: str, dry_run: bool = False) -> RestoringReport:
    return restore_logs(world.database, LogArchive(folder), match_ids, dry_run=dry_run)


def file_of(world: World, match_id: str) -> bytes:
    with world.database.read() as session:
        return logs.read_log_file(session, session.get_one(StoredMatch, match_id), gzipped=False)


def acts(world: World) -> list[Act]:
    with world.database.read() as session:
        return list(session.scalars(select(Act).where(Act.kind == ActKind.LOG_RESTORED).order_by(Act.id)))


def rewrite(folder: Path, match_id: str, content: bytes) -> None:
    """Replace an archived log, and its checksum in the index."""
    (file,) = folder.glob(f"*/{match_id}.ndjson.gz")
    file.write_bytes(content)
    index = file.parent / INDEX
    rows = [json.loads(line) for line in index.read_text().splitlines()]
    for row in rows:
        if row["match"] == match_id:
            row["sha256"] = hashlib.sha256(content).hexdigest()
    index.write_text("".join(json.dumps(row) + "\n" for row in rows))


def read(folder: Path, match_id: str) -> list[bytes]:
    (file,) = folder.glob(f"*/{match_id}.ndjson.gz")
    return gzip.decompress(file.read_bytes()).splitlines()


def pack(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join(line + b"\n" for line in lines))


def test_F16_restored_logs_are_downloaded_and_audited_as_before(world: World, folder: Path) -> None:
    bots = world.bots(2)
    played = [world.play(bots), world.play(bots, choice=1)]
    before = [file_of(world, result.match_id) for result in played]
    world.clock.moment += timedelta(days=DAYS + 1)
    prune(world, Kind.LOGS, days=DAYS, archive=folder)
    with pytest.raises(LogDeleted):
        file_of(world, played[0].match_id)

    report = restore(world, folder)

    assert (sorted(report.restored), report.kept, report.refused) == (sorted(r.match_id for r in played), 0, [])
    assert [file_of(world, result.match_id) for result in played] == before
    assert found(world) == []
    assert audit_archive(world, folder).not_replayable == 0
    with world.database.read() as session:
        match = session.get_one(StoredMatch, played[0].match_id)
        assert (match.log_deleted_at, match.log_deleted_rule) == (None, None)


def test_F16_each_restored_log_is_in_the_list_of_acts_with_what_deleted_it(
    world: World, folder: Path, pruned: list[Result]
) -> None:
    restore(world, folder, pruned[1].match_id)

    (act,) = acts(world)
    assert (act.object_id, act.account_id, act.details["rule"]) == (
        pruned[1].match_id,
        None,
        "logs are kept for 30 days",
    )
    assert act.details["deleted_at"].startswith("2026-02-01")
    assert kept_logs(world) == {pruned[1].match_id}


def test_logs_that_were_restored_are_left_as_they_are(world: World, folder: Path, pruned: list[Result]) -> None:
    restore(world, folder, pruned[0].match_id)

    again = restore(world, folder)

    assert (again.restored, again.kept) == ([pruned[1].match_id], 1)
    assert (restore(world, folder).restored, len(acts(world))) == ([], 2)


def test_restored_logs_can_be_pruned_again(world: World, folder: Path, pruned: list[Result]) -> None:
    restore(world, folder)

    assert prune(world, Kind.LOGS, days=DAYS, archive=folder) == 2
    assert len(restore(world, folder).restored) == 2


def test_a_dry_run_compares_and_stores_nothing(world: World, folder: Path, pruned: list[Result]) -> None:
    rewrite(folder, pruned[0].match_id, b"")

    report = restore(world, folder, dry_run=True)

    assert (report.restored, len(report.refused)) == ([pruned[1].match_id], 1)
    assert kept_logs(world) == set()
    assert acts(world) == []


def test_F16_logs_that_do_not_fit_are_refused_and_the_others_restored(
    world: World, folder: Path, pruned: list[Result]
) -> None:
    first, second = (result.match_id for result in pruned)
    intact = pack(read(folder, first))
    refusals = {
        "checksum": None,
        "cannot be decompressed or read": b"not gzip",
        "the archived log is empty": pack([]),
        "its signature does not fit: the archived log has none": pack(read(folder, first)[:-1]),
        "has another one for this match": pack([*read(folder, first)[:-1], read(folder, second)[-1]]),
        "it is the signature of match": pack([*read(folder, second)[:-1], read(folder, first)[-1]]),
        "row 2: expected a row numbered 2": pack([line for row, line in enumerate(read(folder, first)) if row != 2]),
    }
    for reason, content in refusals.items():
        rewrite(folder, first, intact if content is None else content)
        if content is None:
            (file,) = folder.glob(f"*/{first}.ndjson.gz")
            file.write_bytes(intact + b"x")

        (refusal,) = restore(world, folder, first).refused

        assert refusal.match == first
        assert reason in refusal.reason
        assert kept_logs(world) == set()
    assert restore(world, folder).restored == [second]


def test_F16_a_log_is_refused_if_its_result_was_changed_after_pruning(
    world: World, folder: Path, pruned: list[Result]
) -> None:
    of_it = Result.match_id == pruned[0].match_id
    with world.database.write() as session:
        session.execute(update(Result).where(of_it).values(placements=[2, 1], scores=[0, 9]))

    (refusal,) = restore(world, folder, pruned[0].match_id).refused

    assert refusal.reason.startswith(f"result {pruned[0].match_id}: stored")
    assert kept_logs(world) == set()


def test_F16_a_log_is_refused_if_the_chain_has_another_signature(
    world: World, folder: Path, pruned: list[Result]
) -> None:
    with world.database.write() as session:
        session.execute(update(SignedLog).values(signature="0" * 128))

    reasons = {refusal.reason for refusal in restore(world, folder).refused}

    assert reasons == {"its signature does not fit: the chain of signatures has another one for this match"}


def test_a_match_that_the_archive_lacks_ends_the_run_before_anything_is_stored(
    world: World, folder: Path, pruned: list[Result]
) -> None:
    with pytest.raises(ArchiveError, match="has no log of mat_unknown, so no log was restored"):
        restore(world, folder, pruned[0].match_id, "mat_unknown")

    assert kept_logs(world) == set()


def test_a_log_of_another_service_is_refused(world: World, folder: Path, pruned: list[Result]) -> None:
    lines = split_signature(read(folder, pruned[0].match_id))[0]
    LogArchive(folder).write([("mat_other", world.clock.moment, pack(lines))])

    (refusal,) = restore(world, folder, "mat_other").refused

    assert "no log of an unknown match" in refusal.reason


def cancelled(world: World, folder: Path) -> tuple[str, bytes]:
    """Return a match that was cancelled while it was played, and its log, which was archived and deleted."""
    match_id = world.match()
    (claim,) = world.claim(match_id=match_id)
    lines = world.resumed(match_id).lines
    with world.database.write() as session:
        record_batch(session, [MatchUpdate(match_id, claim.epoch, 0, lines)])
    with world.database.write() as session:
        match_cancellation.cancel_match(session, match_id, master_key=MASTER_KEY)
    log = file_of(world, match_id)
    LogArchive(folder).write([(match_id, world.clock.moment, gzip.compress(log))])
    with world.database.write() as session:
        log_pruning.delete_logs(session, [match_id], "logs are kept for 30 days")
    return match_id, log


def test_F16_the_log_of_a_match_that_was_cancelled_is_restored(world: World, folder: Path) -> None:
    match_id, log = cancelled(world, folder)

    assert audit_archive(world, folder).differences == []
    assert restore(world, folder).restored == [match_id]
    assert file_of(world, match_id) == log
    assert found(world) == []


@pytest.mark.parametrize(("row", "reason"), [(0, "does not follow from the row before"), (-3, "other rows")])
def test_F16_the_log_of_a_match_that_was_cancelled_is_refused_if_it_was_changed(
    world: World, folder: Path, row: int, reason: str
) -> None:
    match_id, log = cancelled(world, folder)
    lines = log.splitlines()
    lines[row] = lines[row].replace(b'"row":', b'"raw":')
    rewrite(folder, match_id, pack(lines))

    (refusal,) = restore(world, folder).refused

    assert reason in refusal.reason
