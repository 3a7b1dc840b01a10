"""E21, B16, K30: runners that grow old while their matches go on, in real workers."""

import time

import pytest

from referee.match.time_limits import Limits
from tests.end_to_end.bots import Bots
from tests.end_to_end.service import SHORT, Service
from tests.end_to_end.test_fair_shares import owner_of
from workers import queues
from workers.runner import LIFETIME_S

SLOW = {"rounds": 1000, "start_chips": 100_000}  # lasts for hours


def test_E21_the_next_work_horse_follows_an_old_one_without_a_scheduler(service: Service) -> None:
    with Bots(holds=[0]) as slow, Bots() as fast:
        thinking = [service.enlist(slow.serve("first")), service.enlist(fast.serve("first"))]
        honest = [service.enlist(fast.serve("first")) for _ in range(2)]
        client = service.redis()
        long = service.arrange("saint-poker", thinking, options=SHORT)
        worker = service.worker("tests.end_to_end.short_lived_worker")
        queues.wake(client)
        service.until(lambda: slow.desk.held, "a question that waits")
        (question,) = slow.desk.held
        first = worker.horse

        service.until(lambda: len(slow.desk.times(question)) == 2, "the question, asked again")
        assert worker.horse not in (None, first)
        due = service.arrange("saint-poker", honest, options=SHORT)
        service.until_finished([due])
        slow.release()
        service.until_finished([long])

    assert service.match(long).lost_claims == 0
    assert slow.desk.times(question)[0].body == slow.desk.times(question)[1].body
    service.check_all([long, due])


@pytest.mark.long
def test_E21_a_match_begins_at_once_beside_ten_friendlies_that_outlast_the_runners_of_two_workers(
    service: Service,
) -> None:
    with Bots() as slow, Bots() as fast:
        hostile = [service.enlist(slow.serve("first", latency_ms=4_500)) for _ in range(2)]
        honest = [service.enlist(fast.serve("first")) for _ in range(2)]
        service.redis()
        service.scheduler()
        workers = [service.worker() for _ in range(2)]
        terms = {"rated": False, "created_by": owner_of(service, hostile[0]), "limits": Limits(5_000, 60_000)}
        friendlies = [service.arrange("pool-nap", hostile, options=SLOW, **terms) for _ in range(10)]
        service.until(lambda: service.statuses() == {"running": 10}, "ten slow friendlies")
        began, horses = time.monotonic(), {worker.horse for worker in workers} - {None}

        waits: list[float] = []
        while time.monotonic() - began < LIFETIME_S + 60 or len(waits) < 2:
            arranged = time.monotonic()
            match_id = service.arrange("saint-poker", honest, options=SHORT)
            service.until(lambda match_id=match_id: service.match(match_id).started_at is not None, "the match")  # type: ignore[misc]
            waits.append(time.monotonic() - arranged)
            service.until_finished([match_id])
            time.sleep(max(0.0, arranged + 5 - time.monotonic()))

        print(f"{len(waits)} matches began after {sorted(waits)[len(waits) // 2]:.1f} s, at most {max(waits):.1f} s")
        assert max(waits) < 10
        assert horses.isdisjoint(worker.horse for worker in workers)
        slow.desk.holds = ()

    assert {service.match(match_id).lost_claims for match_id in friendlies} == {0}
