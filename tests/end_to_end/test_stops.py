"""K5, K7, K20: workers that receive SIGTERM, all processes killed together, and a machine that was restarted."""

import asyncio
import shutil
from collections import Counter
from collections.abc import Iterator

import pytest
from aiohttp import web

from tests.end_to_end.bots import Bots, Watched
from tests.end_to_end.service import Service

WORKER = "tests.end_to_end.patient_worker:main"  # whose leases nobody can wait for


@pytest.fixture(scope="module")
def bots(service: Service) -> Iterator[Bots]:
    with Bots() as bots:
        service.begin(bots, latency_ms=30)
        shy = bots.serve("first", make=Shy)
        assert isinstance(shy, Shy)
        shy.bot_id = service.enlist(shy)  # before there are workers, which would call it
        service.bot_ids.remove(shy.bot_id)
        yield bots


def test_K5_a_worker_told_to_stop_gives_its_matches_to_the_next_at_once(service: Service, bots: Bots) -> None:
    bots.expect(4)
    match_ids = [service.arrange() for _ in range(3)]
    (first,) = service.have_workers(1, WORKER)
    service.until(lambda: len(bots.desk.held) == 3, "three questions that wait")
    service.have_workers(2, WORKER)
    service.until(lambda: service.client().scard("rq:workers") == 2, "the second worker")

    assert first.terminate() == 0
    service.until(lambda: all(bots.desk.times(id)[1:] for id in bots.desk.held), "all open questions asked again")
    service.until_finished(match_ids)

    assert [(match.epoch, match.lost_claims) for match in map(service.match, match_ids)] == [(2, 0)] * 3
    service.check_all()


def test_K5_a_worker_told_to_stop_while_it_asks_for_nonces_leaves_the_asking_to_the_next(
    service: Service, bots: Bots
) -> None:
    bots.expect()
    (shy,) = (house for house in bots.served if isinstance(house, Shy))
    match_id = service.arrange("saint-poker", [service.bot_ids[0], shy.bot_id])
    (first,) = service.have_workers(1, WORKER)
    service.until(lambda: shy.asked_for_nonces, "a request for nonces")
    service.have_workers(2, WORKER)

    first.terminate()
    service.until_finished([match_id])

    service.check_all()


def test_K7_after_all_processes_were_killed_everything_finishes_once(service: Service, bots: Bots) -> None:
    bots.expect()
    match_ids = [service.arrange(game, options={"rounds": 6}) for game in ("pool-nap", "saint-poker") * 4]
    service.have_workers(2, WORKER)
    service.until(lambda: len(bots.desk.answered) > 100, "play in full swing")

    service.kill_everything()
    rows = {match_id: service.lines(match_id) for match_id in match_ids}
    service.redis()
    service.scheduler()
    service.have_workers(2, WORKER)
    service.until_finished(match_ids)

    assert any(rows.values())
    assert all(service.lines(match_id)[: len(lines)] == lines for match_id, lines in rows.items())
    service.check_all()


def test_K20_after_a_restart_of_the_machine_nobody_waits_for_leases_and_sealed_answers_stand(
    service: Service, bots: Bots
) -> None:
    bots.expect(8)  # where the seats of Saint Poker choose together
    together = service.arrange("saint-poker")
    match_ids = [together, service.arrange(), service.arrange()]
    service.have_workers(1, WORKER)
    service.until(lambda: len(bots.desk.held) == 3, "three questions that wait")
    service.until(lambda: service.sealed(together) == 1, "the answer of the other seat")

    service.kill_everything()
    with service.writing_by_hand() as record:  # a new boot has a new id and counts its seconds from zero
        record.execute("UPDATE matches SET lease_boot = 'the boot before', lease_until = lease_until + 1e6")
    shutil.rmtree(service.folder / "claims")  # which would tell whose processes died
    service.redis()
    service.scheduler()
    service.worker(WORKER)
    service.until(lambda: all(bots.desk.times(id)[1:] for id in bots.desk.held), "all open questions asked again")
    service.until_finished(match_ids)

    asked = Counter(question.id for question in bots.desk.asked)
    assert {id for id, times in asked.items() if times > 1} == set(bots.desk.held)
    assert [match.lost_claims for match in map(service.match, match_ids)] == [0] * 3
    service.check_all()


class Shy(Watched):
    """Takes longer than anybody waits to answer its first request for a nonce."""

    bot_id = ""
    asked_for_nonces = 0

    async def _notify(self, request: web.Request) -> web.Response:
        if b"group_start" in await request.read():
            self.asked_for_nonces += 1
            if self.asked_for_nonces == 1:
                await asyncio.sleep(10)
        return await super()._notify(request)
