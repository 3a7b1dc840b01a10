"""Logs of official ladders are deleted when they are old: only these, in small steps, and nothing else of the match."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from referee.audit.database_audit import audit
from referee.errors import LogDeleted
from referee.match.log import digest
from referee.matches.lists import fault_reports, response_stats
from referee.matches.logs import logs
from referee.matches.tables import Fault, MatchLog, Result, StoredMatch
from referee_extras.retention.rules import Kind
from tests.database.world import World
from tests.extras.retention.pruning import prune as pruning_of

DAYS = 30


def official(world: World, *results: Result) -> None:
    """Make these matches, which are over, matches of the official ladder on which they were rated."""
    with world.database.write() as session:
        ids = [result.match_id for result in results]
        session.execute(update(StoredMatch).where(StoredMatch.id.in_(ids)).values(ladder_id=results[0].ladder_id))


def prune(world: World, days: int = DAYS) -> int:
    return pruning_of(world, Kind.LADDER_LOGS, days=days)


def kept(world: World) -> set[str]:
    with world.database.read() as session:
        return set(session.scalars(select(MatchLog.match_id).where(func.length(MatchLog.gzip_log) > 0)))


def test_only_old_logs_of_official_ladders_are_deleted(world: World) -> None:
    bots = world.bots(2)
    old, other = world.play(bots), world.play(bots)
    world.clock.moment += timedelta(days=DAYS + 1)
    new = world.play(bots)
    official(world, old, new)

    assert prune(world, 0) == 0
    assert prune(world, DAYS + 2) == 0
    assert prune(world) == 1
    assert prune(world) == 0

    assert kept(world) == {other.match_id, new.match_id}
    with world.database.read() as session:
        times = dict(session.execute(select(StoredMatch.id, StoredMatch.log_deleted_at)).all())
    assert [match_id for match_id, deleted_at in times.items() if deleted_at] == [old.match_id]


def test_a_match_in_progress_and_one_whose_deal_group_is_open_keep_their_logs(world: World) -> None:
    ended = world.play(world.bots(2))
    running = world.match()
    official(world, ended)
    with world.database.write() as session:
        session.execute(update(StoredMatch).where(StoredMatch.id == running).values(ladder_id=ended.ladder_id))
    world.clock.moment += timedelta(days=400)

    assert prune(world) == 1


def test_the_rest_of_the_match_stays_and_the_audit_holds(world: World) -> None:
    bots = world.bots(2)
    result = world.play(bots)
    official(world, result)
    with world.database.read() as session:
        lines = logs.log_lines(session, result.match_id)
    with world.database.write() as session:
        about = {"match_id": result.match_id, "n": 0, "seat": 0, "bot_id": bots[0], "code": "timeout", "detail": ""}
        session.add(Fault(**about, created_at=world.clock.moment))
    world.clock.moment += timedelta(days=DAYS + 1)

    assert prune(world) == 1

    with world.database.read() as session:
        match = session.get_one(StoredMatch, result.match_id)
        assert session.scalars(select(Result.match_id)).all() == [result.match_id]
        assert logs.find_digest(session, result.match_id) == digest(lines[-2])  # that of the copy, before the reveal
        for read in (
            lambda: logs.log_lines(session, match.id),
            lambda: logs.read_log_file(session, match, gzipped=True),
        ):
            with pytest.raises(LogDeleted, match=r"was deleted on 20.* the digest [0-9a-f]{64}"):
                read()
        assert response_stats.load_last_matches(session, bots[0]) == []
        fault = session.scalars(select(Fault)).one()
        assert fault_reports.find_replacement_action(session, fault) is None
        assert list(audit(session)) == []


def test_an_emptied_log_without_a_date_is_a_difference(world: World) -> None:
    result = world.play(world.bots(2))
    with world.database.write() as session:
        session.execute(update(MatchLog).values(gzip_log=b"", reveal_line=None))

    with world.database.read() as session:
        found = [difference for difference in audit(session) if difference.kind == "log"]

    assert [(difference.id, "empty" in str(difference)) for difference in found] == [(result.match_id, True)]


def test_a_step_reads_no_logs_that_are_kept(world: World) -> None:
    with world.database.read() as session:
        if world.database.is_sqlite:
            query = "SELECT 1 FROM matches WHERE ladder_id IS NOT NULL AND log_deleted_at IS NULL AND finished_at < 3"
            plan = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {query}").all()
            assert "ix_matches_kept_logs" in str(plan)
