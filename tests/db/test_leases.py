"""Leases, on a small table of their own: one claimer wins, and superseded claimers write nothing."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from referee.db.engine import Database, lease_now
from referee.db.leases import LEASE_S, NO_LEASE, Fence, Leased, Leases, revocation_values
from referee.errors import StaleEpoch
from tests.database.world import FakeClock


class Base(DeclarativeBase):
    """Base class of the tables of these tests."""


class Job(Leased, Base):
    """A job for one process at a time."""

    __tablename__ = "jobs_of_test_leases"

    id: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[str]
    done: Mapped[int]
    lost: Mapped[int]


LEASES = Leases(Job, lost="lost")
CLAIM = LEASES.prepare_claim()


@dataclass
class Jobs:
    """The table in a database, with methods that each use one transaction."""

    database: Database
    clock: FakeClock

    def add(self, *keys: str, status: str = "due") -> None:
        with self.database.write() as session:
            session.add_all(Job(id=key, status=status, epoch=0, done=0, lost=0) for key in keys)

    def claim(self, limit: int = 10) -> list[Fence]:
        with self.database.write() as session:
            jobs = LEASES.claim(session, select(Job.id).order_by(Job.id.desc()).limit(limit))
            return [(job.id, job.epoch) for job in jobs]

    def write(self, what: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        with self.database.write() as session:
            return what(session, *args, **kwargs)

    def get(self, key: str) -> Job:
        with self.database.read() as session:
            return session.get_one(Job, key)

    def stored(self) -> list[tuple[Any, ...]]:
        with self.database.read() as session:
            return [tuple(row) for row in session.execute(select(*Job.__table__.c))]

    def pass_seconds(self, seconds: float) -> None:
        """Let leases age: by the fake clock, and by moving them where the server's clock counts."""
        if self.database.is_sqlite:
            self.clock.seconds += seconds
        else:
            self.write(Session.execute, update(Job).values(lease_until=Job.lease_until - seconds))


@pytest.fixture
def jobs(database: Database) -> Iterator[Jobs]:
    assert isinstance(database.clock, FakeClock)
    with database.migration_connection() as connection:
        Base.metadata.create_all(connection)
    yield Jobs(database, database.clock)
    with database.migration_connection() as connection:
        Base.metadata.drop_all(connection)


def test_due_rows_are_claimed_in_the_order_of_the_query(jobs: Jobs) -> None:
    jobs.add("a", "b", "c")
    jobs.add("d", status="over")

    assert jobs.claim(2) == [("c", 1), ("b", 1)]
    assert jobs.claim(2) == [("a", 1)]
    assert jobs.claim(2) == []
    assert jobs.get("d").epoch == 0


def test_claimers_at_the_same_time_share_no_row(jobs: Jobs) -> None:
    keys = [f"job_{number:02}" for number in range(20)]
    jobs.add(*keys)

    def work(_: int) -> list[Fence]:
        return [claim for found in iter(lambda: jobs.claim(3), []) for claim in found]

    with ThreadPoolExecutor(4) as threads:
        claimed = [claim for found in threads.map(work, range(4)) for claim in found]
    claimed += jobs.claim()  # jobs that others had locked whenever a thread looked

    assert sorted(claimed) == [(key, 1) for key in keys]


def test_of_claimers_of_the_same_key_one_wins_although_none_locked_the_row(jobs: Jobs) -> None:
    keys = [f"job_{number}" for number in range(5)]
    jobs.add(*keys)
    claimed: list[Fence] = []
    start = threading.Barrier(3)

    def work(_: int) -> None:
        for key in keys:
            start.wait(60)
            with jobs.database.write() as session:
                claimed.extend(LEASES.claim_keys(session, CLAIM, [key], *lease_now(session)).items())

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(work, range(3)))

    assert sorted(claimed) == [(key, 1) for key in keys]


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # SQLite has one writer at a time
def test_rows_that_another_transaction_has_locked_are_passed_over(jobs: Jobs) -> None:
    jobs.add("a", "b")
    with jobs.database.write() as session:
        session.execute(select(Job).where(Job.id == "b").with_for_update())

        assert jobs.claim() == [("a", 1)]
    assert jobs.claim() == [("b", 1)]


def test_a_claim_sets_further_values_only_in_the_rows_it_claims(jobs: Jobs) -> None:
    jobs.add("a", "b")
    jobs.claim(1)

    claim = LEASES.prepare_claim(done=Job.done + bindparam("more"))
    with jobs.database.write() as session:
        epochs = LEASES.claim_keys(session, claim, ["a", "b", "unknown"], *lease_now(session), more=5)

    assert epochs == {"a": 1}
    assert (jobs.get("a").done, jobs.get("b").done) == (5, 0)


def test_a_row_can_be_claimed_again_once_its_lease_has_expired(jobs: Jobs) -> None:
    jobs.add("a")
    jobs.claim()

    jobs.pass_seconds(LEASE_S - 1)
    assert jobs.claim() == []
    jobs.pass_seconds(1)
    assert jobs.claim() == [("a", 2)]
    assert jobs.get("a").lost == 1


def test_a_restart_of_the_machine_frees_its_rows_and_counts_as_no_loss(jobs: Jobs) -> None:
    jobs.add("a")
    jobs.claim()
    jobs.clock.boot_id, jobs.clock.seconds = "boot-2", 3.0

    # Where the server's clock counts, the boot of a client means nothing.
    assert jobs.claim() == ([("a", 2)] if jobs.database.is_sqlite else [])
    assert jobs.get("a").lost == 0


def test_a_superseded_claim_writes_nothing(jobs: Jobs) -> None:
    jobs.add("a")
    (old,) = jobs.claim()
    jobs.pass_seconds(LEASE_S)
    (new,) = jobs.claim()
    before = jobs.stored()

    with pytest.raises(StaleEpoch, match="claim 1 of a in jobs_of_test_leases"):
        jobs.write(LEASES.update, *old, done=1)
    with pytest.raises(StaleEpoch):
        jobs.write(LEASES.lock, *old)
    assert jobs.write(LEASES.renew, [old]) == jobs.write(LEASES.lock_valid_claims, [old]) == set()
    assert jobs.write(LEASES.release, [old], done=1) == 0
    assert jobs.write(Session.execute, update(Job).where(LEASES.fence(*old)).values(done=1)).rowcount == 0

    assert jobs.stored() == before
    jobs.write(LEASES.update, *new, done=1)
    assert jobs.get("a").done == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda session: session.execute(update(Job).values(status="over")),
        lambda session: session.get_one(Job, "a").revoke_claim(),
        lambda session: session.execute(update(Job).values(revocation_values(Job))),
    ],
)
def test_a_claim_on_a_row_that_ended_or_was_revoked_writes_nothing(jobs: Jobs, change: Callable[..., object]) -> None:
    jobs.add("a")
    (claim,) = jobs.claim()
    jobs.write(change)

    with pytest.raises(StaleEpoch):
        jobs.write(LEASES.update, *claim, done=1)
    assert jobs.write(LEASES.renew, [claim]) == set()
    assert jobs.get("a").done == 0


def test_a_renewed_claim_lasts_and_renewing_tells_which_claims_are_still_valid(jobs: Jobs) -> None:
    jobs.add("a", "b")
    first, second = jobs.claim()

    for _ in range(3):
        jobs.pass_seconds(LEASE_S - 1)
        assert jobs.write(LEASES.renew, [second]) == {second[0]}
    (taken_over,) = jobs.claim()

    assert taken_over == (first[0], 2)
    assert jobs.write(LEASES.renew, [first, second]) == {second[0]}
    assert jobs.write(LEASES.renew, []) == set()


def test_a_write_renews_the_lease(jobs: Jobs) -> None:
    jobs.add("a")
    (claim,) = jobs.claim()

    for done in range(3):
        jobs.pass_seconds(LEASE_S - 1)
        jobs.write(LEASES.update, *claim, done=done)

    assert jobs.claim() == []


def test_a_released_row_can_be_claimed_at_once_and_counts_as_no_loss(jobs: Jobs) -> None:
    jobs.add("a", "b")
    first, second = jobs.claim()

    for claims, released in (([first], 1), ([first], 0), ([], 0)):
        assert jobs.write(LEASES.release, claims, done=Job.done + 1) == released

    assert jobs.claim() == [(first[0], 2)]
    assert (jobs.get(first[0]).lost, jobs.get(first[0]).done, jobs.get(second[0]).epoch) == (0, 1, 1)


def test_a_locked_row_is_read_afresh(jobs: Jobs) -> None:
    jobs.add("a")
    (claim,) = jobs.claim()

    with jobs.database.write() as session:
        known = session.get_one(Job, "a")
        LEASES.update(session, *claim, done=7)
        assert LEASES.lock(session, *claim) is known
        assert known.done == 7


def test_rows_may_stay_due_while_they_are_claimed(jobs: Jobs) -> None:
    always_due = Leases(Job, claimed="due", lease_s=2 * LEASE_S)
    jobs.add("a")

    with jobs.database.write() as session:
        assert [job.status for job in always_due.claim(session, select(Job.id))] == ["due"]
        assert always_due.claim(session, select(Job.id)) == []
    jobs.pass_seconds(2 * LEASE_S - 1)
    with jobs.database.write() as session:
        assert session.scalars(select(Job.id).where(always_due.is_leased(*lease_now(session)))).all() == ["a"]
        assert always_due.release(session, [("a", 1)]) == 1
        assert [job.epoch for job in always_due.claim(session, select(Job.id))] == [2]


def test_a_row_without_a_lease_is_not_being_worked_on(jobs: Jobs) -> None:
    jobs.add("a")
    jobs.claim()

    with jobs.database.write() as session:
        session.execute(update(Job).values(NO_LEASE))
        now = lease_now(session)
        assert session.scalars(select(Job.id).where(LEASES.is_leased(*now))).all() == []
        assert session.scalars(select(Job.id).where(LEASES.is_claimable(*now))).all() == ["a"]
