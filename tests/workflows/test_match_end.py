"""The end of a match and its effect on ladders, verified by the audit."""

import gzip
import threading
from datetime import timedelta

import pytest
from sqlalchemy import delete, func, select

from referee.audit.database_audit import audit
from referee.errors import BadLog, NotFound, NotReady, StaleEpoch
from referee.ladders import ratings
from referee.ladders.ladder_rows import load_ranks
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingChange
from referee.match.log import parse_row
from referee.matches import matches
from referee.matches.deals import deal_groups
from referee.matches.lists import results
from referee.matches.logs import chain, logs
from referee.matches.logs.recording import MatchUpdate
from referee.matches.queue import claims
from referee.matches.tables import LogRow, MatchLog, Result, SealedAnswer
from referee.ratings.elo import START
from referee.ratings.exchange import K_NEW, Seat, exchange
from referee.workflows.ending import match_end
from tests.database.world import World, outcome, played
from tests.surroundings import MASTER_KEY


def count(world: World, table: type) -> int:
    with world.database.read() as session:
        return session.scalars(select(func.count()).select_from(table)).one()


def found(world: World) -> list[str]:
    with world.database.read() as session:
        return [str(difference) for difference in audit(session)]


def test_a_finished_match_is_one_result_one_log_and_moved_ratings(world: World) -> None:
    seated = world.bots(3)
    result = world.play(seated)

    with world.database.read() as session:
        match = matches.get_match(session, result.match_id)
        seats = matches.seats_of(session, [match.id])[match.id]
        changes = {row.bot_id: row for row in ratings.list_entry_changes(session, result.seq)}
    assert (match.status, result.bots) == ("finished", seated)
    assert [seat.placement for seat in seats] == result.placements
    expected = exchange(
        [Seat(START, K_NEW, bot, place) for bot, place in zip(seated, result.placements, strict=True)], {}
    )
    assert [changes[bot].after - changes[bot].before for bot in seated] == expected
    assert (count(world, LogRow), count(world, SealedAnswer), count(world, MatchLog)) == (0, 0, 1)
    assert found(world) == []


def test_F1_a_result_delivered_twice_counts_once(world: World) -> None:
    world.match()
    (claim,) = world.claim()
    match = world.resumed(claim.match_id)
    played(match)
    world.ended(claim, match, 0)

    with pytest.raises(StaleEpoch):
        world.ended(claim, match, 0)

    assert (count(world, Result), count(world, RatingChange)) == (1, 2)


def test_F1_two_runners_that_both_play_to_the_end_make_one_result(world: World) -> None:
    world.match()
    (old,) = world.claim()
    match = world.resumed(old.match_id)
    played(match)
    world.pass_seconds(16)
    (new,) = world.claim()
    ended: list[str] = []

    def end(claim: object, name: str) -> None:
        try:
            world.ended(claim, match, 0)  # type: ignore[arg-type]
            ended.append(name)
        except StaleEpoch:
            pass

    threads = [threading.Thread(target=end, args=pair) for pair in ((old, "old"), (new, "new"), (new, "twin"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(ended) == 1
    assert "old" not in ended
    assert count(world, Result) == 1


def test_the_end_happens_whole_or_not_at_all(world: World) -> None:
    world.match()
    (claim,) = world.claim()
    match = world.resumed(claim.match_id)
    played(match)

    class Died(Exception):
        pass

    with pytest.raises(Died):
        end_and_die(world, MatchUpdate(claim.match_id, claim.epoch, 0, match.lines), match, Died)

    assert (count(world, Result), count(world, Rating), count(world, MatchLog)) == (0, 0, 0)
    assert world.ended(claim, match, 0).seq >= 1


def end_and_die(world: World, tail: MatchUpdate, match: object, error: type[Exception]) -> None:
    with world.database.write() as session:
        match_end.finish_match(session, tail, outcome(match), master_key=MASTER_KEY)  # type: ignore[arg-type]
        raise error


def test_the_last_rows_must_continue_the_recorded_ones(world: World) -> None:
    world.match()
    (claim,) = world.claim()
    match = world.resumed(claim.match_id)
    played(match)

    with pytest.raises(StaleEpoch):
        world.ended(claim, match, 3)


def test_F2_results_count_in_the_order_of_their_numbers(world: World) -> None:
    bots = world.bots(4)
    pairs = [(a, b) for a in bots for b in bots if a != b]
    for pair in pairs:
        world.match(pair)
    claimed = world.claim(len(pairs))

    threads = [threading.Thread(target=world.finish, args=(claim,)) for claim in reversed(claimed)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    with world.database.read() as session:
        numbers = list(session.scalars(select(Result.seq).order_by(Result.seq)))
        total = session.scalars(select(func.sum(Rating.value))).one()
    assert len(numbers) == 12
    assert total == 4 * START  # F11: no point is made or lost
    assert found(world) == []


def test_the_last_matches_of_a_group_may_end_together_and_all_of_them_count(world: World) -> None:
    tables = [world.bots(2), world.bots(2)]
    with world.database.write() as session:
        group = deal_groups.create_group(session, [bot for table in tables for bot in table], master_key=MASTER_KEY)
        for table in tables:
            world.matched(session, table, group=group)
    ends = []
    for claim in world.claim(2):
        match = world.resumed(claim.match_id)
        played(match)
        ends.append(match_end.FinishedMatch(MatchUpdate(*claim, 0, match.lines), [], outcome(match)))

    with world.database.write() as session:
        first, second = match_end.finish_matches(session, ends, master_key=MASTER_KEY)

    assert [first.result.match_id, second.result.match_id] == [end.tail.match_id for end in ends]
    assert first.closed == second.closed is not None
    assert count(world, LedgerEntry) == 2
    assert found(world) == []
    with world.database.read() as session:
        lines = [logs.log_lines(session, end.tail.match_id) for end in ends]
    assert [parse_row(rows[-1])["type"] for rows in lines] == ["reveal", "reveal"]


def test_K18_a_flipped_byte_in_a_stored_log_is_found(world: World) -> None:
    result = world.play(world.bots(2))
    with world.database.write() as session:
        log = session.get_one(MatchLog, result.match_id)
        log.gzip_log = log.gzip_log[:40] + bytes([log.gzip_log[40] ^ 1]) + log.gzip_log[41:]

    assert [one.split()[0] for one in found(world)] == ["log"]
    with world.database.read() as session, pytest.raises(BadLog):
        logs.read_log_file(session, matches.get_match(session, result.match_id), gzipped=True)


def test_F3_a_log_whose_lines_were_rewritten_is_found(world: World) -> None:
    result = world.play(world.bots(2))
    with world.database.write() as session:
        log = session.get_one(MatchLog, result.match_id)
        lines = gzip.decompress(log.gzip_log).splitlines()
        session.execute(delete(MatchLog))
        logs.pack_log(session, result.match_id, [*lines[:-2], lines[-2].replace(b'"ms":0', b'"ms":1'), lines[-1]])

    assert any("log" in one for one in found(world))


def test_F3_a_missing_log_is_found(world: World) -> None:
    world.play(world.bots(2))
    with world.database.write() as session:
        session.execute(delete(MatchLog))

    assert [one.split()[0] for one in found(world)] == ["signature", "match"]


def test_F4_two_bots_of_one_owner_move_no_rating(world: World) -> None:
    owner = world.account()
    result = world.play([world.bot(owner), world.bot(owner), world.bot()])

    assert result.ladder_id is None
    assert (count(world, Result), count(world, Rating)) == (1, 0)
    with world.database.read() as session:
        assert matches.get_match(session, result.match_id).rated is False
    assert found(world) == []


def test_an_unrated_match_moves_no_rating(world: World) -> None:
    assert world.play(world.bots(2), rated=False).ladder_id is None
    assert count(world, Rating) == 0


def test_each_game_options_and_seats_have_a_ladder(world: World) -> None:
    seated = world.bots(3)
    first = world.play(seated[:2])
    again = world.play(seated[1:])
    three = world.play(seated)
    nap = world.play(seated, game="pool-nap")

    assert first.ladder_id == again.ladder_id
    assert len({first.ladder_id, three.ladder_id, nap.ladder_id}) == 3
    with world.database.read() as session:
        assert len(ratings.list_ladders(session).items) == 3
        assert len(ratings.list_ladders(session, game="pool-nap").items) == 1
        assert len(load_ranks(session, seated[1])) == 3


def test_a_ladder_counts_its_results(world: World) -> None:
    first, second = world.bots(2), world.bots(3)
    for seated in (first, first, second):
        world.play(seated)
    world.play(first, rated=False)

    with world.database.read() as session:
        counted = dict(session.execute(select(Ladder.seats, Ladder.results)).all())
    assert counted == {2: 2, 3: 1}


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

    with world.database.write(durable=False) as session:
        assert claims.renew_claims(session, [claim]) == {playing}
    assert world.claim() == []
    later = world.finish(claim)
    assert before.finished_at > after.finished_at
    assert [before.seq, after.seq, later.seq] == sorted([before.seq, after.seq, later.seq])
    with world.database.read() as session:
        applied = select(LedgerEntry.match_id).where(LedgerEntry.match_id.is_not(None)).order_by(LedgerEntry.seq)
        assert list(session.scalars(applied)) == [before.match_id, after.match_id, later.match_id]
    assert found(world) == []
