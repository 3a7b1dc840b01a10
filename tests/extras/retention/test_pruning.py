"""Pruning: what is deleted and what never is, in portions, and audits of what remains."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from referee.accounts import accounts
from referee.accounts.tables import Token
from referee.audit.database_audit import audit
from referee.audit.stored_matches import count_not_replayable
from referee.db.engine import current_time
from referee.db.idempotency import Idempotency
from referee.errors import LogDeleted
from referee.matches.lists import fault_reports, response_stats
from referee.matches.logs import chain, logs
from referee.matches.states import VoidState
from referee.matches.tables import Fault, MatchLog, MatchVoid, Result, SignedLog, StoredMatch
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament
from referee_extras.retention import pruning
from referee_extras.retention.pruning import Pruner
from referee_extras.retention.rules import Kind
from referee_extras.retention.tables import RetentionRun
from tests.database.tournaments import entered
from tests.database.world import World
from tests.extras.retention.pruning import prune, rules

DAYS = 30


def kept_logs(world: World) -> set[str]:
    with world.database.read() as session:
        return set(session.scalars(select(MatchLog.match_id).where(func.length(MatchLog.gzip_log) > 0)))


def found(world: World) -> list[str]:
    with world.database.read() as session:
        return [str(difference) for difference in audit(session)]


def change(world: World, table: Any, **values: Any) -> None:
    with world.database.write() as session:
        session.execute(update(table).values(values))


def test_F16_an_old_log_is_pruned_and_the_match_is_signed_but_not_replayable(world: World) -> None:
    bots = world.bots(2)
    old, running = world.play(bots), world.match(bots)
    world.claim(match_id=running)
    with world.database.write() as session:
        about = {"match_id": old.match_id, "n": 0, "seat": 0, "bot_id": bots[0], "code": "timeout", "detail": ""}
        session.add(Fault(**about, created_at=world.clock.moment))
    world.clock.moment += timedelta(days=DAYS + 1)
    new = world.play(bots)

    assert prune(world, Kind.LOGS, days=DAYS) == 1

    assert kept_logs(world) == {new.match_id}
    with world.database.read() as session:
        match, fault = session.get_one(StoredMatch, old.match_id), session.scalars(select(Fault)).one()
        assert match.log_deleted_rule == "logs are kept for 30 days"
        assert chain.find_entry(session, old.match_id) is not None
        assert logs.find_digest(session, old.match_id) == old.digest
        assert session.scalars(select(Result.match_id).order_by(Result.seq)).all() == [old.match_id, new.match_id]
        assert count_not_replayable(session) == 1
        with pytest.raises(LogDeleted, match=r"was deleted on 2026-.*\(logs are kept for 30 days\)"):
            logs.log_lines(session, old.match_id)
        with pytest.raises(LogDeleted, match=r"was deleted on 20.* the digest [0-9a-f]{64}"):
            logs.read_log_file(session, match, gzipped=True)
        assert len(response_stats.load_last_matches(session, bots[0])) == 1  # the new one
        assert fault_reports.find_replacement_action(session, fault) is None
    assert found(world) == []


def test_F16_a_log_that_was_emptied_and_called_pruned_is_a_difference_without_its_signature(world: World) -> None:
    result = world.play(world.bots(2))
    change(world, MatchLog, gzip_log=b"", reveal_line=None)
    assert any("empty" in difference for difference in found(world))  # without a date
    change(world, StoredMatch, log_deleted_at=world.clock.moment, ladder_id=None)
    assert found(world) == []  # as if pruned: its signature and its digest are those of the result

    change(world, MatchLog, digest="0" * 64)
    assert any(": stored 000" in difference for difference in found(world))
    change(world, MatchLog, digest=result.digest)
    with world.database.write() as session:
        session.execute(SignedLog.__table__.delete())
    assert any("stored no signature" in difference for difference in found(world))


def test_only_old_logs_of_official_ladders_are_pruned_as_such(world: World) -> None:
    bots = world.bots(2)
    old, other, running = world.play(bots), world.play(bots), world.match(bots)
    world.clock.moment += timedelta(days=DAYS + 1)
    new = world.play(bots)
    with world.database.write() as session:
        of_ladder = StoredMatch.id.in_([old.match_id, new.match_id, running])
        session.execute(update(StoredMatch).where(of_ladder).values(ladder_id=old.ladder_id))

    assert [prune(world, Kind.LADDER_LOGS, days=days) for days in (0, DAYS + 2, DAYS, DAYS)] == [0, 0, 1, 0]

    assert kept_logs(world) == {other.match_id, new.match_id}
    with world.database.read() as session:
        deleted = select(StoredMatch.id).where(StoredMatch.log_deleted_at.is_not(None))
        assert session.scalars(deleted).all() == [old.match_id]
        if world.database.is_sqlite:
            query = "SELECT 1 FROM matches WHERE ladder_id IS NOT NULL AND log_deleted_at IS NULL AND finished_at < 3"
            plan = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {query}").all()
            assert "ix_matches_kept_logs" in str(plan)  # so that no logs are read that are kept


def damage(world: World, _: str) -> None:
    with world.database.write() as session:
        (log,) = session.scalars(select(MatchLog))
        log.gzip_log = log.gzip_log[:-3]


def propose_void(world: World, match_id: str) -> None:
    row = {"id": "void_1", "match_id": match_id, "whole_group": False, "reason": "?", "state": VoidState.PROPOSED}
    with world.database.write() as session:
        session.execute(insert(MatchVoid).values(**row, created_at=current_time(session)))


def put_into_tournament(**values: Any) -> Callable[[World, str], None]:
    def put(world: World, _: str) -> None:
        tournament_id, _bots = entered(world, 2)
        change(world, StoredMatch, tournament_id=tournament_id)
        change(world, Tournament, **values)

    return put


def unsign(world: World, _: str) -> None:
    with world.database.write() as session:
        session.execute(SignedLog.__table__.delete())


PROTECTED = {
    "disputed": propose_void,
    "of a running tournament": put_into_tournament(status=TournamentState.RUNNING),
    "of a tournament with a prize": put_into_tournament(status=TournamentState.FINISHED, prizes="100 euros"),
    "not signed": unsign,
    "damaged": damage,
}


@pytest.mark.parametrize("protect", PROTECTED.values(), ids=PROTECTED)
def test_F16_a_log_is_never_pruned_that_is(world: World, protect: Callable[[World, str], None]) -> None:
    result = world.play(world.bots(2))
    protect(world, result.match_id)
    world.clock.moment += timedelta(days=400)

    assert prune(world, Kind.LOGS, days=DAYS) == 0
    assert kept_logs(world) == {result.match_id}


def test_the_log_of_a_finished_tournament_without_a_prize_is_pruned(world: World) -> None:
    result = world.play(world.bots(2))
    put_into_tournament(status=TournamentState.FINISHED)(world, result.match_id)
    world.clock.moment += timedelta(days=DAYS + 1)

    assert prune(world, Kind.LOGS, days=DAYS) == 1


def test_a_log_that_becomes_disputed_after_it_was_chosen_stays(world: World) -> None:
    result = world.play(world.bots(2))
    world.clock.moment += timedelta(days=DAYS + 1)
    pruner = Pruner(world.database, rules(Kind.LOGS, days=DAYS))
    choose = pruner._select

    def choose_then_dispute(*arguments: Any) -> Any:
        chosen = choose(*arguments)
        if chosen:
            propose_void(world, result.match_id)
        return chosen

    pruner._select = choose_then_dispute  # type: ignore[method-assign, assignment]  # a proposal between two transactions
    pruner.run()

    assert kept_logs(world) == {result.match_id}


def test_portions_are_bounded_transactions_of_any_number_of_processes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "ROWS_PER_PORTION", 2)
    bots = world.bots(2)
    for _ in range(5):
        world.play(bots)
    world.clock.moment += timedelta(days=DAYS + 1)
    interrupted, *others = [Pruner(world.database, rules(Kind.LOGS, days=DAYS)) for _ in range(4)]
    left = [5]
    while len(left) < 2:
        interrupted.step()
        if len(kept_logs(world)) != left[-1]:
            left.append(len(kept_logs(world)))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(Pruner.run, others))

    assert left == [5, 3]  # rows of a transaction
    assert kept_logs(world) == set()
    with world.database.read() as session:
        (run,) = session.scalars(select(RetentionRun))
        assert run.finished_at is not None
        assert run.deleted["logs"][0] == 5  # of all processes
    assert sum(pruner.deleted.get("logs", [0])[0] for pruner in others) == 3


def test_requests_and_replies_of_old_faults_are_pruned_and_the_faults_stay(world: World) -> None:
    bots = world.bots(2)
    result = world.play(bots)
    with world.database.write() as session:
        about = {"match_id": result.match_id, "n": 0, "seat": 0, "bot_id": bots[0], "code": "timeout", "detail": "x"}
        session.add(Fault(**about, request=b"12345", reply=b"6", created_at=current_time(session)))
    assert prune(world, Kind.FAULT_REPORTS, days=DAYS) == 0
    world.clock.moment += timedelta(days=DAYS + 1)

    with world.database.read() as session:
        overdue = {row.kind: row for row in pruning.list_overdue(session, rules(Kind.FAULT_REPORTS, days=DAYS))}
    assert (overdue[Kind.FAULT_REPORTS].rows, overdue[Kind.FAULT_REPORTS].bytes) == (1, 6)
    assert prune(world, Kind.FAULT_REPORTS, days=DAYS) == 1

    with world.database.read() as session:
        (fault,) = session.scalars(select(Fault))
        assert (fault.code, fault.detail, fault.request, fault.reply) == ("timeout", "x", None, None)


def test_only_tokens_that_ended_long_ago_are_pruned(world: World) -> None:
    account = world.account()
    with world.database.write() as session:
        now = current_time(session)
        for name, ended, expires in (("kept", None, None), ("revoked", now, None), ("expired", None, now)):
            token, _ = accounts.create_token(session, account, name)
            token.revoked_at, token.expires_at = ended, expires
    assert prune(world, Kind.TOKENS, days=DAYS) == 0
    world.clock.moment += timedelta(days=DAYS + 1)

    assert prune(world, Kind.TOKENS, days=DAYS) == 2
    with world.database.read() as session:
        assert "kept" in session.scalars(select(Token.name)).all()


def test_old_responses_are_pruned(world: World) -> None:
    account = world.account()
    with world.database.write() as session:
        now = current_time(session)
        for number, age in enumerate((0, DAYS + 1)):
            moment = now - timedelta(days=age)
            row = {"account_id": account, "key": str(number), "body_hash": "", "status": 200, "body": b"12"}
            session.add(Idempotency(**row, created_at=moment))

    assert prune(world, Kind.RESPONSES, days=1) == 1

    with world.database.read() as session:
        assert session.scalars(select(Idempotency.key)).all() == ["0"]
