"""K14, K18: a record that cannot be written for a while, and one that somebody has meddled with."""

import asyncio
import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing

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
from workers.scheduler import Scheduler

HELD_S = 6.0  # longer than a writer waits


@pytest.fixture(scope="module")
def bots(service: Service) -> Iterator[Bots]:
    """Let four matches be played while the database is locked for a time, and stop everything."""
    with Bots(holds=[7]) as bots:  # the last question of a round of Saint Poker
        service.begin(bots, latency_ms=10)
        for game, rounds in (("saint-poker", 1), ("pool-nap", 2)) * 2:
            service.arrange(game, options={"rounds": rounds})
        service.worker()
        service.until(lambda: len({id.rsplit("_", 2)[0] for id in bots.desk.held}) == 4, "questions that wait")

        with service.writing_by_hand():
            taken = time.monotonic()
            bots.release()
            service.until(lambda: time.monotonic() - taken >= HELD_S, "the end of the writer's turn")
        service.until_finished(service.arranged)
        for process in service.processes:
            process.terminate()
        yield bots


@pytest.fixture
def played(service: Service, bots: Bots) -> tuple[Service, str]:
    """Return a record with some finished matches, and one of the matches."""
    return service, service.arranged[0]


def test_K14_while_the_record_cannot_be_written_matches_wait_and_nobody_is_blamed(service: Service, bots: Bots) -> None:
    assert len({question.id for question in bots.desk.asked}) == len(bots.desk.asked)
    ended = [service.match(match_id) for match_id in service.arranged]
    assert [(match.lost_claims, match.epoch) for match in ended] == [(0, 1)] * 4
    rows = [parse_row(line) for match in ended for line in service.lines(match.id)]
    assert not [row for row in rows if "fault" in row]
    service.check_all()


def test_K18_the_audit_names_the_match_of_any_flipped_byte_and_of_a_log_that_is_gone(
    played: tuple[Service, str],
) -> None:
    service, match_id = played
    whole, rng = _exchange_packed(service, match_id, None), random.Random(18)
    flips = {place: 1 << rng.randrange(8) for place in (0, 3, len(whole) - 1, *rng.sample(range(10, len(whole)), 16))}
    flipped = [whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :] for place, bit in flips.items()]
    cut = [whole[:size] for size in (0, 5, len(whole) // 2, len(whole) - 1)]

    for damaged in (*flipped, *cut):
        _exchange_packed(service, match_id, damaged)
        named = service.differences()
        assert named, damaged
        assert all(match_id in one for one in named)
    _exchange_packed(service, match_id, whole)

    with service.writing_by_hand() as record:
        (row,) = record.execute("SELECT * FROM match_logs WHERE match_id = ?", (match_id,)).fetchall()
        record.execute("DELETE FROM match_logs WHERE match_id = ?", (match_id,))
    named = service.differences()
    with service.writing_by_hand() as record:
        record.execute(f"INSERT INTO match_logs VALUES ({','.join('?' * len(row))})", row)
    assert [finding.split()[0] for finding in named] == ["signature", "match"]
    assert all(match_id in finding for finding in named)
    assert service.differences() == []


def test_one_record_that_cannot_be_written_fails_its_own_match_alone(played: tuple[Service, str]) -> None:
    service, _ = played
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


def test_a_deal_group_that_cannot_be_closed_holds_up_no_other_group(played: tuple[Service, str]) -> None:
    service, _ = played
    broken, cancelled = (service.arrange() for _ in range(2))
    with service.writing_by_hand() as record:
        group = "(SELECT group_id FROM matches WHERE id = ?)"
        record.execute(f"UPDATE deal_groups SET commitment = '00' WHERE id = {group}", (broken,))
        record.execute("UPDATE matches SET status = 'cancelled' WHERE id IN (?, ?)", (broken, cancelled))
        record.execute("INSERT INTO groups_to_close SELECT group_id, id FROM matches WHERE status = 'cancelled'")

    Scheduler(service.database, service.client(), MASTER_KEY).run(OneSweep())

    assert _group_state(service, cancelled) == "revealed"
    assert _group_state(service, broken) == "new"


# -- what the stories use --


class OneSweep(threading.Event):
    """Stop a scheduler that waits for its next sweep."""

    def wait(self, timeout: float | None = None) -> bool:
        self.set()
        return True


def _claimed(service: Service) -> list[MatchUpdate]:
    """Two matches, claimed, and nothing recorded of them."""
    for _ in range(2):
        service.arrange("saint-poker")
    with service.database.write() as session:
        return [MatchUpdate(claim.match_id, claim.epoch) for claim in claims.claim_matches(session, 2)]


def _group_state(service: Service, match_id: str) -> str:
    with service.database.read() as session:
        return deal_groups.get_group(session, matches.get_match(session, match_id).group_id).state


def _exchange_packed(service: Service, match_id: str, packed: bytes | None) -> bytes:
    """Return the packed log of a match, and replace it if another is given."""
    with service.writing_by_hand() as record:
        (before,) = record.execute("SELECT gzip_log FROM match_logs WHERE match_id = ?", (match_id,)).fetchone()
        if packed is not None:
            record.execute("UPDATE match_logs SET gzip_log = ? WHERE match_id = ?", (packed, match_id))
    return bytes(before)
