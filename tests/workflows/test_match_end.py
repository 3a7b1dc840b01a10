"""The end of a match and its effect on ladders, verified by the audit."""

import gzip
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.audit.database_audit import audit
from referee.errors import BadLog, NotFound, NotReady, StaleEpoch
from referee.ladders import ratings
from referee.ladders.ladder_rows import load_ranks
from referee.ladders.tables import LedgerEntry, Rating, RatingChange
from referee.match.log import parse_row
from referee.matches import matches
from referee.matches.lists import results
from referee.matches.logs import chain, logs
from referee.matches.logs.recording import MatchUpdate
from referee.matches.queue import claims
from referee.matches.queue.claims import Claim
from referee.matches.tables import LogRow, MatchLog, Result, SealedAnswer
from referee.ratings.elo import START
from referee.ratings.exchange import Seat, exchange
from referee.workflows.ending import match_end
from tests.database.checks import on_one_database
from tests.database.world import World, outcome, played
from tests.surroundings import MASTER_KEY


def count(world: World, table: type) -> int:
    return world.one(select(func.count()).select_from(table))


def found(world: World) -> list[str]:
    return [str(difference) for difference in world.listed(audit)]


def test_F1_a_finished_match_is_one_result_one_log_and_moved_ratings_even_if_delivered_twice(world: World) -> None:
    seated = world.bots(3)
    claim, match = world.played_out(seated)
    result = world.ended(claim, match, 0)

    with pytest.raises(StaleEpoch):
        world.ended(claim, match, 0)

    with world.database.read() as session:
        stored = matches.get_match(session, result.match_id)
        seats = matches.seats_of(session, [stored.id])[stored.id]
        changes = {row.bot_id: row for row in session.scalars(select(RatingChange))}
    assert (stored.status, result.bots) == ("finished", seated)
    assert [seat.placement for seat in seats] == result.placements
    expected = exchange([Seat(START, 0, bot, place) for bot, place in zip(seated, result.placements, strict=True)], {})
    assert [(changes[bot].after - changes[bot].before, changes[bot].information) for bot in seated] == [
        (change.rating, change.information) for change in expected
    ]
    assert (count(world, LogRow), count(world, SealedAnswer), count(world, MatchLog)) == (0, 0, 1)
    assert (count(world, Result), count(world, RatingChange)) == (1, 3)
    assert found(world) == []


def test_F1_two_runners_that_both_play_to_the_end_make_one_result(world: World) -> None:
    old, match = world.played_out()
    world.pass_seconds(16)
    (new,) = world.claim()
    ended: list[str] = []

    def end(claim: Claim, name: str) -> None:
        with suppress(StaleEpoch):
            world.ended(claim, match, 0)
            ended.append(name)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(end, (old, new, new), ("old", "new", "twin")))

    assert len(ended) == 1
    assert "old" not in ended
    assert count(world, Result) == 1


def test_the_end_happens_whole_or_not_at_all(world: World) -> None:
    claim, match = world.played_out()

    with world.undoing() as session:
        tail = MatchUpdate(claim.match_id, claim.epoch, 0, match.lines)
        match_end.finish_match(session, tail, outcome(match), master_key=MASTER_KEY)

    assert (count(world, Result), count(world, Rating), count(world, MatchLog)) == (0, 0, 0)
    assert world.ended(claim, match, 0).seq >= 1


@on_one_database
def test_the_last_rows_must_continue_the_recorded_ones(world: World) -> None:
    claim, match = world.played_out()

    with pytest.raises(StaleEpoch):
        world.ended(claim, match, 3)


def test_F2_results_count_in_the_order_of_their_numbers(world: World) -> None:
    bots = world.bots(4)
    pairs = [(a, b) for a in bots for b in bots if a != b]
    for pair in pairs:
        world.match(pair)
    claimed = world.claim(len(pairs))

    with ThreadPoolExecutor(len(claimed)) as threads:
        list(threads.map(world.finish, reversed(claimed)))

    with world.database.read() as session:
        numbers = list(session.scalars(select(Result.seq).order_by(Result.seq)))
        total = session.scalars(select(func.sum(Rating.value + Rating.balance))).one()
    assert len(numbers) == 12
    assert total == 4 * START  # F11: no point is made or lost
    assert found(world) == []


def test_the_last_matches_of_a_group_may_end_together_and_all_of_them_count(world: World) -> None:
    world.sharing([world.bots(2), world.bots(2)])
    ends = []
    for claim in world.claim(2):
        match = world.resumed(claim.match_id)
        played(match)
        ends.append(match_end.FinishedMatch(MatchUpdate(*claim, 0, match.lines), [], outcome(match)))

    first, second = world.write(match_end.finish_matches, ends, master_key=MASTER_KEY)

    assert [first.result.match_id, second.result.match_id] == [end.tail.match_id for end in ends]
    assert first.closed == second.closed is not None
    assert count(world, LedgerEntry) == 2
    assert found(world) == []
    with world.database.read() as session:
        lines = [logs.log_lines(session, end.tail.match_id) for end in ends]
    assert [parse_row(rows[-1])["type"] for rows in lines] == ["reveal", "reveal"]


def flip_byte(session: Session, log: MatchLog) -> None:
    log.gzip_log = log.gzip_log[:40] + bytes([log.gzip_log[40] ^ 1]) + log.gzip_log[41:]


def rewrite_row(session: Session, log: MatchLog) -> None:
    lines = gzip.decompress(log.gzip_log).splitlines()
    session.delete(log)
    session.flush()
    logs.pack_log(session, log.match_id, [*lines[:-2], lines[-2].replace(b'"ms":0', b'"ms":1'), lines[-1]])


def remove_log(session: Session, log: MatchLog) -> None:
    session.delete(log)


@on_one_database
@pytest.mark.parametrize(
    ("damage", "told"),
    [(flip_byte, ["log"]), (rewrite_row, ["signature", "log"]), (remove_log, ["signature", "match"])],
)
def test_K18_F3_a_stored_log_that_was_damaged_is_found_and_not_served(
    world: World, damage: Callable[[Session, MatchLog], None], told: list[str]
) -> None:
    result = world.play(world.bots(2))
    with world.database.write() as session:
        damage(session, session.get_one(MatchLog, result.match_id))

    assert [one.split()[0] for one in found(world)] == told
    with world.database.read() as session, pytest.raises((BadLog, NotReady)):
        logs.read_log_file(session, matches.get_match(session, result.match_id), gzipped=True)


@on_one_database
def test_F4_two_bots_of_one_owner_move_no_rating(world: World) -> None:
    owner = world.account()
    result = world.play([world.bot(owner), world.bot(owner), world.bot()])

    assert result.ladder_id is None
    assert (count(world, Result), count(world, Rating)) == (1, 0)
    assert world.read(matches.get_match, result.match_id).rated is False
    assert found(world) == []


@on_one_database
def test_each_game_options_and_seats_have_a_ladder_that_counts_its_results(world: World) -> None:
    seated = world.bots(3)
    first, again = world.play(seated[:2]), world.play(seated[1:])
    three, nap = world.play(seated), world.play(seated, game="pool-nap")
    unrated = world.play(seated, rated=False)

    assert first.ladder_id == again.ladder_id
    assert unrated.ladder_id is None
    with world.database.read() as session:
        assert {one.id: (one.seats, one.results) for one in ratings.list_ladders(session).items} == {
            first.ladder_id: (2, 2), three.ladder_id: (3, 1), nap.ladder_id: (3, 1)
        }  # fmt: skip
        assert [one.id for one in ratings.list_ladders(session, game="pool-nap").items] == [nap.ladder_id]
        assert len(load_ranks(session, seated[1])) == 3
    assert count(world, LedgerEntry) == 4


@on_one_database
def test_the_log_is_served_packed_and_plain_alike(world: World) -> None:
    result = world.play(world.bots(2))
    with world.database.read() as session:
        match = matches.get_match(session, result.match_id)
        plain = logs.read_log_file(session, match, gzipped=False)
        packed = logs.read_log_file(session, match, gzipped=True)
        lines = logs.log_lines(session, match.id)
        signature = chain.read_signature(session, match.id, lines)
        some = logs.log_lines(session, match.id, start=2, limit=3)

    assert signature is not None
    assert gzip.decompress(packed) == plain == b"".join(line + b"\n" for line in [*lines, signature.line()])
    assert some == lines[2:5]


@on_one_database
def test_a_match_being_played_has_no_log_to_download_and_no_result(world: World) -> None:
    match_id = world.match()
    world.claim()

    with world.database.read() as session:
        with pytest.raises(NotReady):
            logs.read_log_file(session, matches.get_match(session, match_id), gzipped=False)
        with pytest.raises(NotFound):
            results.get_result(session, match_id)


def test_K19_results_keep_their_order_and_claims_their_leases_when_the_clock_is_set_back(world: World) -> None:
    seated = world.bots(2)
    before = world.play(seated)
    playing = world.match(seated)
    (claim,) = world.claim()

    world.clock.moment -= timedelta(hours=1)
    after = world.play(world.bots(2))
    world.clock.moment += timedelta(days=400)

    assert world.write(claims.renew_claims, [claim]) == {playing}
    assert world.claim() == []
    later = world.finish(claim)
    assert before.finished_at > after.finished_at
    assert [before.seq, after.seq, later.seq] == sorted([before.seq, after.seq, later.seq])
    with world.database.read() as session:
        applied = select(LedgerEntry.match_id).where(LedgerEntry.match_id.is_not(None)).order_by(LedgerEntry.seq)
        assert list(session.scalars(applied)) == [before.match_id, after.match_id, later.match_id]
    assert found(world) == []
