"""Workers and schedulers stop before the schema is upgraded, and those of the old version do nothing after it."""

from rq.suspension import resume, suspend
from sqlalchemy import text

from referee.db import revisions
from referee.runtime.worker_pause import is_paused, pause_workers
from tests.end_to_end.bots import Bots
from tests.end_to_end.service import Service

NEWER = "9999"


def _set_revision(service: Service, revision: str) -> None:
    with service.database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})


def test_old_workers_and_schedulers_stop_before_an_upgrade_and_refuse_the_new_schema(
    service: Service, bots: Bots
) -> None:
    match_id = service.arrange(options={"rounds": 8})
    (scheduler,), worker = list(service.processes), service.worker()
    service.until(lambda: len(bots.desk.answered) > 5, "play")

    with pause_workers(service.environment["REDIS_URL"]):
        released, asked = service.match(match_id), len(bots.desk.asked)
        _set_revision(service, NEWER)  # as an upgrade does
        service.until(lambda: worker.horse is None, "the end of the work-horse")

    assert released.lease_until is None, "the match is still claimed"
    assert scheduler.popen.wait(60) == 2
    service.until(lambda: "runner_not_started" in worker.tail(), "a refusal of the worker")
    assert f"has schema {NEWER}" in worker.tail()
    assert f"has schema {NEWER}" in scheduler.tail()
    assert len(bots.desk.asked) == asked
    assert worker.alive

    _set_revision(service, revisions.required_revision())
    service.scheduler()
    service.until_finished([match_id])
    service.check_all()


def test_a_pause_that_somebody_else_began_goes_on(service: Service, bots: Bots) -> None:
    redis = service.client()
    suspend(redis)  # as `rq suspend` does

    with pause_workers(service.environment["REDIS_URL"]):
        assert is_paused(redis)

    assert is_paused(redis)
    resume(redis)
    with pause_workers(service.environment["REDIS_URL"]):
        assert is_paused(redis)
    assert not is_paused(redis)
