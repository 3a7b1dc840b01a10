"""K1 to K3: matches of a work-horse that died go on immediately, though every lease lasts an hour."""

import signal

from referee.matches.queue.claims import LOST_BEFORE_ISOLATED
from tests.end_to_end.bots import Bots
from tests.end_to_end.processes import Process, send
from tests.end_to_end.service import Service

WORKER = "tests.end_to_end.patient_worker"


def begin(service: Service, bots: Bots) -> None:
    service.redis()
    service.scheduler()
    for name in ("random", "sound"):
        service.enlist(bots.serve(name))


def held_question(service: Service, bots: Bots, match_id: str, number: int) -> str:
    """Wait until this many questions of the match have been kept waiting, and return the last one's id."""
    service.until(lambda: len(bots.desk.held_of(match_id)) == number, f"question {number} that waits")
    return bots.desk.held_of(match_id)[-1]


def horse_of(service: Service, worker: Process) -> int:
    horse: int = service.until(lambda: worker.horse, "a work-horse")
    return horse


def test_K3_a_match_goes_on_as_soon_as_its_horse_is_killed_and_alone_when_it_was_lost_twice(service: Service) -> None:
    with Bots(holds=(4, 8, 12)) as bots:
        begin(service, bots)
        match_id = service.arrange()
        worker = service.worker(WORKER)
        found = []
        for number in range(1, LOST_BEFORE_ISOLATED + 1):
            held_question(service, bots, match_id, number)
            send(horse_of(service, worker), signal.SIGKILL)
            held_question(service, bots, match_id, number + 1)
            stored = service.match(match_id)
            found.append((stored.epoch, stored.lost_claims, stored.claims_without_progress))
        bots.release()
        service.until_finished([match_id])

    assert found == [(2, 1, 0), (3, 2, 0)]  # after two losses only a work-horse of its own may claim it
    assert worker.alive
    service.check_all([match_id])


def test_K3_all_matches_of_a_killed_horse_go_on_on_other_workers(service: Service) -> None:
    with Bots(holds=(4,)) as bots:
        begin(service, bots)
        matches = [service.arrange() for _ in range(4)]
        first = service.worker(WORKER)
        for match_id in matches:
            held_question(service, bots, match_id, 1)
        horse = horse_of(service, first)
        send(first.pid, signal.SIGSTOP)  # it cannot fork another, but learns of the death when it continues
        second = service.worker(WORKER)
        send(horse, signal.SIGKILL)
        send(first.pid, signal.SIGCONT)
        service.until_finished(matches)

    assert all((service.match(match_id).epoch, service.match(match_id).lost_claims) == (2, 1) for match_id in matches)
    assert second.alive
    service.check_all(matches)


def test_K1_a_worker_that_starts_frees_the_matches_of_one_that_died_with_its_horse(service: Service) -> None:
    with Bots(holds=(4,)) as bots:
        begin(service, bots)
        match_id = service.arrange()
        worker = service.worker(WORKER)
        held_question(service, bots, match_id, 1)
        victims = [worker.pid, horse_of(service, worker)]
        for pid in victims:
            send(pid, signal.SIGKILL)
        service.worker(WORKER)
        service.until_finished([match_id])

    assert (service.match(match_id).epoch, service.match(match_id).lost_claims) == (2, 1)
    service.check_all([match_id])
    assert len(list((service.folder / "claims").iterdir())) == 1  # that of the worker at work
