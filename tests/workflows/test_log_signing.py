"""Logs of matches that ended before the service signed logs are verified and signed, in steps."""

import pytest
from sqlalchemy import delete, select, update

from referee.ladders import audit
from referee.match.signing_keys import SigningKey
from referee.matches import chain
from referee.matches.recording import MatchUpdate, record_batch
from referee.matches.tables import MatchLog, PublishedKey, SignedLog, StoredMatch
from referee.workflows import log_signing, match_cancellation
from referee.workflows.log_signing import sign_old_logs
from tests.database.world import World
from tests.surroundings import MASTER_KEY

KEY = SigningKey.derive(MASTER_KEY).public


def forget_signatures(world: World) -> None:
    """Bring the database into the state after the migration."""
    with world.database.write() as session:
        session.execute(delete(SignedLog))
        session.execute(delete(PublishedKey))


def signed(world: World) -> list[str]:
    with world.database.read() as session:
        return [entry.match for entry in chain.list_checked_entries(session, 0, 1_000)]


def found(world: World) -> list[str]:
    with world.database.read() as session:
        return [f"{one.kind} {one.id}" for one in audit.audit(session, key=KEY)]


def test_F14_old_logs_are_signed_in_the_order_of_their_results(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_signing, "LOGS_PER_STEP", 2)
    bots = world.bots(2)
    played = [world.play(bots).match_id for _ in range(5)]
    forget_signatures(world)
    assert found(world) == [f"signature {match_id}" for match_id in sorted(played)]
    steps: list[tuple[int, int]] = []

    report = sign_old_logs(world.database, MASTER_KEY, lambda done, total: steps.append((done, total)))

    assert (report.signed, report.invalid) == (5, [])
    assert report.sentences() == ["5 logs of earlier matches were verified and signed."]
    assert steps == [(2, 5), (4, 5), (5, 5)]
    assert signed(world) == played
    assert found(world) == []


def test_F14_an_invalid_log_stays_unsigned_and_is_named_each_time(world: World) -> None:
    bots = world.bots(2)
    good, bad, other = (world.play(bots).match_id for _ in range(3))
    forget_signatures(world)
    with world.database.write() as session:
        session.execute(update(MatchLog).where(MatchLog.match_id == bad).values(gzip_log=b"junk"))

    first, second = (sign_old_logs(world.database, MASTER_KEY) for _ in range(2))

    assert (first.signed, second.signed) == (2, 0)
    assert [match_id for match_id, _ in first.invalid] == [match_id for match_id, _ in second.invalid] == [bad]
    told = f"The log of {bad} is not signed, because it is invalid: row 0: the stored log is damaged"
    assert first.sentences()[1].startswith(told)
    assert signed(world) == [good, other]


def test_a_log_of_another_match_is_not_signed(world: World) -> None:
    bots = world.bots(2)
    one, two = (world.play(bots).match_id for _ in range(2))
    forget_signatures(world)
    with world.database.write() as session:
        stored = session.get_one(MatchLog, one)
        values = {name: getattr(stored, name) for name in ("gzip_log", "reveal_line", "digest", "rows")}
        session.execute(update(MatchLog).where(MatchLog.match_id == two).values(values))

    report = sign_old_logs(world.database, MASTER_KEY)

    assert (report.signed, report.invalid) == (1, [(two, f"row 0: it is the log of match {one}")])


def test_F14_signing_that_was_interrupted_is_continued_and_finds_what_was_signed_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_signing, "LOGS_PER_STEP", 1)
    bots = world.bots(2)
    played = [world.play(bots).match_id for _ in range(3)]
    forget_signatures(world)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sign_old_logs(world.database, MASTER_KEY, interrupt)
    assert signed(world) == played[:1]
    new = world.play(bots).match_id  # the service runs
    others: list[int] = []

    def sign_elsewhere(done: int, total: int) -> None:
        if done == 1:
            others.append(sign_old_logs(world.database, MASTER_KEY).signed)

    report = sign_old_logs(world.database, MASTER_KEY, sign_elsewhere)

    assert (report.signed, others) == (1, [1])
    assert signed(world) == [played[0], new, *played[1:]]
    assert found(world) == []


def test_logs_of_cancelled_matches_are_signed_last_and_deleted_and_secret_ones_not(world: World) -> None:
    bots = world.bots(2)
    played = [world.play(bots).match_id for _ in range(2)]
    running = world.match(bots)
    (claim,) = world.claim(match_id=running)
    match = world.resumed(running)
    with world.database.write() as session:
        record_batch(session, [MatchUpdate(running, claim.epoch, 0, match.lines)])
    with world.database.write() as session:
        match_cancellation.cancel_match(session, running, master_key=MASTER_KEY)
        ended = session.scalar(select(StoredMatch.finished_at).where(StoredMatch.id == played[0]))
        session.execute(update(StoredMatch).where(StoredMatch.id == played[0]).values(log_deleted_at=ended))
        session.execute(update(MatchLog).where(MatchLog.match_id == played[0]).values(gzip_log=b"", reveal_line=None))
    assert signed(world)[-1] == running
    forget_signatures(world)
    world.match(bots)

    report = sign_old_logs(world.database, MASTER_KEY)

    assert report.invalid == []
    assert signed(world) == [played[1], running]
