"""The audit of each night: its steps, what it finds, and what health checks say of it."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, select

from referee.audit import nightly
from referee.ladders.tables import AuditRun, Ladder, LedgerEntry, RatingChange
from tests.database.checks import on_one_database
from tests.database.world import World
from workers.nightly_auditor import LOOK_S, REST_S, NightlyAuditor

pytestmark = on_one_database


def play(world: World, matches: int) -> list[str]:
    """Play matches of two bots. Return their ids in order."""
    bots = world.bots(2)
    return [world.play(bots).match_id for _ in range(matches)]


def runs(world: World) -> list[AuditRun]:
    return world.scalars(select(AuditRun).order_by(AuditRun.day))


def finish(auditor: NightlyAuditor) -> int:
    """Run steps until the audit of the day is over. Return their number."""
    steps = 1
    while auditor.step() == REST_S:
        steps += 1
    return steps


def test_F3_an_audit_compares_all_logs_in_steps_and_runs_once_a_day(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nightly, "LOGS_PER_STEP", 2)
    play(world, 5)
    auditor = NightlyAuditor(world.database)

    steps = finish(auditor)
    again = auditor.step()

    (run,) = runs(world)
    assert (steps, again) == (3, LOOK_S)
    assert (run.logs, run.differences, run.after) == (5, 0, "")
    assert run.finished_at is not None
    world.clock.moment += timedelta(days=1)
    finish(auditor)
    assert len(runs(world)) == 2


def test_F3_an_audit_goes_on_where_that_of_the_night_before_ended(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nightly, "LOGS_PER_STEP", 1)
    monkeypatch.setattr(nightly, "LOGS_PER_NIGHT", 2)
    ids = sorted(play(world, 3))
    auditor = NightlyAuditor(world.database)

    finish(auditor)
    world.clock.moment += timedelta(days=1)
    finish(auditor)

    assert [(run.after, run.logs) for run in runs(world)] == [(ids[1], 2), ("", 1)]


def test_F3_damage_of_the_ledger_is_stored_and_is_why_its_ladder_is_frozen(world: World) -> None:
    match_id, _ = play(world, 2)
    with world.database.write() as session:
        session.execute(delete(RatingChange).where(RatingChange.seq == 1))
        session.execute(delete(LedgerEntry).where(LedgerEntry.seq == 1))

    finish(NightlyAuditor(world.database))

    (run,) = runs(world)
    assert world.read(nightly.load_state).differences == run.differences >= 1
    assert run.findings
    reason = world.one(select(Ladder.frozen_reason))
    assert reason == f"an audit found: entry {match_id}: stored no entry, expected an entry for result 1"


def test_a_run_that_its_scheduler_left_is_continued_by_another_after_ten_minutes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nightly, "LOGS_PER_STEP", 1)
    play(world, 3)
    gone, other = NightlyAuditor(world.database), NightlyAuditor(world.database)
    assert gone.step() == REST_S

    assert other.step() == LOOK_S
    world.clock.moment += 2 * nightly.ABANDONED
    finish(other)

    (run,) = runs(world)
    assert run.logs == 3
    assert gone.step() == LOOK_S, "the one that left finds that the run is over"
