"""E21: the runner of a real worker grows old while its matches go on."""

from tests.end_to_end.bots import Bots
from tests.end_to_end.service import SHORT, Service
from workers import queues


def test_E21_the_next_work_horse_follows_an_old_one_without_a_scheduler(service: Service) -> None:
    with Bots(holds=[0]) as slow, Bots() as fast:
        thinking = [service.enlist(slow.serve("first")), service.enlist(fast.serve("first"))]
        honest = [service.enlist(fast.serve("first")) for _ in range(2)]
        client = service.redis()
        long = service.arrange("saint-poker", thinking, options=SHORT)
        worker = service.worker("tests.end_to_end.short_lived_worker:main")
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
    service.check_all()
