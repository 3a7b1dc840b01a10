"""K5, K7, K20: workers that receive SIGTERM, all processes killed together, and a machine that was restarted."""

import asyncio
import time
from collections import Counter

from aiohttp import web
from redis import Redis

from referee.db.leases import LEASE_S
from tests.end_to_end.bots import Bots, Watched
from tests.end_to_end.service import Service

SOON_S = LEASE_S - 4  # sooner than any lease runs out: it was renewed in the last 3 s


def test_K5_a_worker_told_to_stop_gives_its_matches_to_the_next_at_once(service: Service) -> None:
    with Bots(holds=(4,)) as bots:
        client = _begun(service, bots)
        match_ids = [service.arrange() for _ in range(3)]
        first = service.worker()
        service.until(lambda: len(bots.desk.held) == 3, "three questions that wait")
        service.worker()
        service.until(lambda: client.scard("rq:workers") == 2, "the second worker")

        told = time.monotonic()
        status = first.terminate()
        left_after_s = time.monotonic() - told
        service.until(lambda: all(bots.desk.times(id)[1:] for id in bots.desk.held), "all open questions asked again")
        resumed_after_s = max(bots.desk.times(id)[1].at for id in bots.desk.held) - told
        service.until_finished(match_ids)

    print(f"left after {left_after_s:.1f} s, resumed after {resumed_after_s:.1f} s")
    assert status == 0
    assert resumed_after_s < SOON_S
    assert [(match.epoch, match.lost_claims) for match in map(service.match, match_ids)] == [(2, 0)] * 3
    service.check_all(match_ids)


def test_K5_a_worker_told_to_stop_while_it_asks_for_nonces_leaves_the_asking_to_the_next(service: Service) -> None:
    with Bots() as bots:
        service.redis()
        service.scheduler()
        shy = bots.serve("first", make=Shy)
        assert isinstance(shy, Shy)
        service.enlist(shy)
        service.enlist(bots.serve("first"))
        match_id = service.arrange("saint-poker")
        first, second = service.worker(), service.worker()
        service.until(lambda: shy.asked_for_nonces, "a request for nonces")
        playing, idle = (first, second) if first.horse else (second, first)

        told = time.monotonic()
        playing.terminate()
        service.until_finished([match_id])
        finished_after_s = time.monotonic() - told
        assert idle.alive

    print(f"finished {finished_after_s:.1f} s after the word")
    assert finished_after_s < SOON_S
    service.check_all([match_id])


def test_K7_after_all_processes_were_killed_everything_finishes_once(service: Service) -> None:
    with Bots() as bots:
        _begun(service, bots, latency_ms=30)
        match_ids = [service.arrange(game, options={"rounds": 6}) for game in ("pool-nap", "saint-poker") * 6]
        for _ in range(2):
            service.worker()
        service.until(lambda: len(bots.desk.answered) > 150, "play in full swing")

        service.kill_everything()
        rows = {match_id: service.lines(match_id) for match_id in match_ids}
        killed = time.monotonic()
        service.redis()
        service.scheduler()
        for _ in range(2):
            service.worker()
        service.until_finished(match_ids)

    print(f"all finished {time.monotonic() - killed:.1f} s after the kill")
    assert any(rows.values())
    assert all(service.lines(match_id)[: len(lines)] == lines for match_id, lines in rows.items())
    service.check_all(match_ids)


def test_K20_after_a_restart_of_the_machine_nobody_waits_for_leases_and_sealed_answers_stand(service: Service) -> None:
    with Bots(holds=(8,)) as bots:  # where the seats of Saint Poker choose together
        _begun(service, bots)
        together = service.arrange("saint-poker")
        match_ids = [together, service.arrange(), service.arrange()]
        service.worker()
        service.until(lambda: len(bots.desk.held) == 3, "three questions that wait")
        service.until(lambda: service.sealed(together) == 1, "the answer of the other seat")

        service.kill_everything()
        with service.writing_by_hand() as record:  # a new boot has a new id and counts its seconds from zero
            record.execute("UPDATE matches SET lease_boot = 'the boot before', lease_until = lease_until + 1e6")
        restarted = time.monotonic()
        service.redis()
        service.scheduler()
        service.worker()
        service.until(lambda: all(bots.desk.times(id)[1:] for id in bots.desk.held), "all open questions asked again")
        resumed_after_s = time.monotonic() - restarted
        service.until_finished(match_ids)

    asked = Counter(question.id for question in bots.desk.asked)
    assert {id for id, times in asked.items() if times > 1} == set(bots.desk.held)
    print(f"resumed {resumed_after_s:.1f} s after the restart")
    assert resumed_after_s < SOON_S
    assert [match.lost_claims for match in map(service.match, match_ids)] == [0] * 3
    service.check_all(match_ids)


# -- what the stories use --


class Shy(Watched):
    """Takes longer than anybody waits to answer its first request for a nonce."""

    asked_for_nonces = 0

    async def _notify(self, request: web.Request) -> web.Response:
        if b"group_start" in await request.read():
            self.asked_for_nonces += 1
            if self.asked_for_nonces == 1:
                await asyncio.sleep(10)
        return await super()._notify(request)


def _begun(service: Service, bots: Bots, *, latency_ms: int = 0) -> Redis:
    """A service without workers, and two bots."""
    client = service.redis()
    service.scheduler()
    for name in ("random", "sound"):
        service.enlist(bots.serve(name, latency_ms=latency_ms))
    return client
