"""K14, K18, K27: a record that cannot be written for a while, and one that somebody has meddled with."""

import asyncio
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from referee.match.log import parse_row
from referee.matches import matches
from referee.matches.deals import deal_groups
from referee.matches.logs.recording import MatchUpdate, PendingAnswer
from referee.matches.queue import claims
from referee.workflows.ending import match_loading
from tests.end_to_end.bots import Bots
from tests.end_to_end.service import MASTER_KEY, Service
from workers.database_thread import DatabaseThread

HELD_S = 10.0


def test_K14_while_the_record_cannot_be_written_matches_wait_and_nobody_is_blamed(service: Service) -> None:
    with Bots(holds=(7,)) as bots:  # the last question of a round of Saint Poker
        service.redis()
        service.scheduler()
        for name in ("random", "sound"):
            service.enlist(bots.serve(name, latency_ms=10))
        ending = [service.arrange("saint-poker", options={"rounds": 1}) for _ in range(2)]
        going_on = [service.arrange() for _ in range(4)]
        service.worker()
        service.until(lambda: len({id.rsplit("_", 2)[0] for id in bots.desk.held}) == 6, "questions that wait")

        with service.writing_by_hand():
            taken = time.monotonic()
            bots.release()
            service.until(lambda: time.monotonic() - taken >= HELD_S, "the end of the writer's turn")
        service.until_finished(ending + going_on)

    assert len({question.id for question in bots.desk.asked}) == len(bots.desk.asked)
    ended = [service.match(match_id) for match_id in ending + going_on]
    assert [match.lost_claims for match in ended] == [0] * 6
    assert [match.epoch for match in ended] == [1] * 6
    rows = [parse_row(line) for match in ended for line in service.lines(match.id)]
    assert not [row for row in rows if "fault" in row]
    service.check_all(ending + going_on)


def test_one_record_that_cannot_be_written_fails_its_own_match_alone(service: Service) -> None:
    good, bad = _claimed(service)
    doubled = bad._replace(sealed=[PendingAnswer(0, 0, {"seat": 0}), PendingAnswer(0, 0, {"seat": 0})])

    async def story() -> tuple[BaseException | None, ...]:
        with closing(DatabaseThread(service.database, master_key=MASTER_KEY)) as thread:
            return await asyncio.gather(
                thread.record(good._replace(sealed=[PendingAnswer(0, 0, {"seat": 0})])),
                thread.record(doubled),
                thread.record(good._replace(sealed=[PendingAnswer(0, 1, {"seat": 1})])),
                return_exceptions=True,
            )

    first, broken, second = asyncio.run(story())

    assert isinstance(broken, IntegrityError)
    assert (first, second) == (None, None)
    with service.database.read() as session:
        assert len(match_loading.load_match(session, good.match_id, master_key=MASTER_KEY).sealed) == 2
        assert match_loading.load_match(session, bad.match_id, master_key=MASTER_KEY).sealed == []


def test_a_deal_group_that_cannot_be_closed_holds_up_neither_matches_nor_other_groups(service: Service) -> None:
    with Bots() as bots:
        service.redis()
        for name in ("random", "sound"):
            service.enlist(bots.serve(name))
        broken, cancelled, whole = (service.arrange() for _ in range(3))
        with service.writing_by_hand() as record:
            group = "(SELECT group_id FROM matches WHERE id = ?)"
            record.execute(f"UPDATE deal_groups SET commitment = '00' WHERE id = {group}", (broken,))
            record.execute("UPDATE matches SET status = 'cancelled' WHERE id IN (?, ?)", (broken, cancelled))
        service.scheduler()
        service.worker()

        service.until_finished([whole])
        service.until(lambda: _group_state(service, cancelled) == "revealed", "the other group's end")
    assert _group_state(service, broken) == "new"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, list[str]]]:
    """A record with some finished matches, everything stopped."""
    with Service(tmp_path_factory.mktemp("played")) as service:
        with Bots() as bots:
            service.redis()
            service.scheduler()
            for name in ("random", "sound", "first"):
                service.enlist(bots.serve(name))
            match_ids = [service.arrange(game, options={"rounds": 1}) for game in ("pool-nap", "saint-poker") * 2]
            service.worker()
            service.until_finished(match_ids)
            for process in service.processes:
                process.terminate()
        service.check_all(match_ids)
        yield service, match_ids


def test_K18_the_audit_names_the_match_of_any_flipped_byte(played: tuple[Service, list[str]]) -> None:
    service, (match_id, *_) = played
    database = service.folder / "referee.db"
    whole = _packed(database, match_id)
    rng = random.Random(18)

    for place in sorted({0, 3, 9, len(whole) - 1, *rng.sample(range(len(whole)), 40)}):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        _put(database, match_id, bytes(flipped))
        named = service.differences()
        # The head of a packed file holds a date, a system and a level that nothing depends on.
        assert (named and all(match_id in one for one in named)) or place in range(4, 10), f"byte {place}: {named}"

    for cut in (0, 5, len(whole) // 2, len(whole) - 1):
        _put(database, match_id, whole[:cut])
        named = service.differences()
        assert named, f"cut to {cut} bytes"
        assert all(match_id in one for one in named)
    _put(database, match_id, whole)
    assert service.differences() == []


def test_K18_the_audit_names_the_match_whose_log_is_gone(played: tuple[Service, list[str]]) -> None:
    service, (match_id, *_) = played
    with service.writing_by_hand() as record:
        (row,) = record.execute("SELECT * FROM match_logs WHERE match_id = ?", (match_id,)).fetchall()
        record.execute("DELETE FROM match_logs WHERE match_id = ?", (match_id,))

    named = service.differences()

    with service.writing_by_hand() as record:
        record.execute(f"INSERT INTO match_logs VALUES ({','.join('?' * len(row))})", row)
    assert [finding.split()[0] for finding in named] == ["signature", "match"]
    assert all(match_id in finding for finding in named)
    assert service.differences() == []


@pytest.mark.parametrize(
    ("change", "back"),
    [
        ("UPDATE ratings SET value = value + 1", "UPDATE ratings SET value = value - 1"),
        ("UPDATE ratings SET games = games + 1", "UPDATE ratings SET games = games - 1"),
        ("UPDATE rating_changes SET after = after + 1", "UPDATE rating_changes SET after = after - 1"),
        ("UPDATE results SET placements = '[9,9,9]'", ""),
    ],
)
def test_K27_the_audit_names_what_differs_by_a_millionth_of_a_point(
    played: tuple[Service, list[str]], change: str, back: str
) -> None:
    service, _ = played
    table = change.split()[1]
    one = f" WHERE rowid = (SELECT min(rowid) FROM {table})"
    with service.writing_by_hand() as record:
        (bot_or_match,) = record.execute(
            f"SELECT {'match_id' if table == 'results' else 'bot_id'} FROM {table}" + one
        ).fetchone()
        kept = record.execute("SELECT min(rowid), placements FROM results" + one.replace(table, "results")).fetchone()
        record.execute(change + one)

    named = service.differences()

    with service.writing_by_hand() as record:
        if back:
            record.execute(back + one)
        else:
            record.execute("UPDATE results SET placements = ? WHERE rowid = ?", (kept[1], kept[0]))
    assert any(bot_or_match in difference for difference in named)
    assert service.differences() == []


# -- what the stories use --


def _claimed(service: Service) -> list[MatchUpdate]:
    """Two matches, claimed, and nothing recorded of them."""
    with Bots() as bots:
        for name in ("random", "sound"):
            service.enlist(bots.serve(name))
    for _ in range(2):
        service.arrange("saint-poker")
    with service.database.write() as session:
        return [MatchUpdate(claim.match_id, claim.epoch) for claim in claims.claim_matches(session, 2)]


def _group_state(service: Service, match_id: str) -> str:
    with service.database.read() as session:
        return deal_groups.get_group(session, matches.get_match(session, match_id).group_id).state


def _packed(database: Path, match_id: str) -> bytes:
    with sqlite3.connect(database) as record:
        (packed,) = record.execute("SELECT gzip_log FROM match_logs WHERE match_id = ?", (match_id,)).fetchone()
    return bytes(packed)


def _put(database: Path, match_id: str, packed: bytes) -> None:
    with sqlite3.connect(database) as record:
        record.execute("UPDATE match_logs SET gzip_log = ? WHERE match_id = ?", (packed, match_id))
