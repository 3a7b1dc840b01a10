"""Times on PostgreSQL come from the server, however wrong the clock of a host is."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from sqlalchemy import event

from referee.db.clock import SystemClock
from referee.db.engine import Database, current_time, lease_now
from referee.matches import matches
from tests.database.world import START, FakeClock, World
from workers.clock_watch import ClockWatch


@dataclass(frozen=True, slots=True)
class WrongClock(SystemClock):
    """The clock of a host that is ahead by this much."""

    ahead: timedelta = timedelta()

    def utc_now(self) -> datetime:
        return datetime.now(START.tzinfo) + self.ahead


@pytest.fixture
def host(postgres_url: str) -> Iterator[Callable[..., Database]]:
    """Return a function that opens the database from a host whose clock is ahead by some minutes."""
    with ExitStack() as stack:

        def opened(**ahead: float) -> Database:
            database = Database(postgres_url, clock=WrongClock(timedelta(**ahead)))
            stack.callback(database.dispose)
            return database

        yield opened


def test_K19_times_of_a_match_are_in_order_whatever_the_clocks_of_its_hosts_say(host: Callable[..., Database]) -> None:
    api, worker = World(host(minutes=2)), World(host(minutes=-2))

    match_id = api.match()
    (claim,) = worker.claim()
    worker.finish(claim)

    with api.database.read() as session:
        match = matches.get_match(session, match_id)
        now = current_time(session)
    moments = [match.created_at, match.started_at, match.finished_at, now]
    assert None not in moments
    assert moments == sorted(moments)
    assert match.created_at.utcoffset() == timedelta()


def test_the_server_is_asked_for_the_time_once_a_second(
    host: Callable[..., Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    database, (boot_id, boot_s), later_s = host(), SystemClock().boot(), [0.0]
    monkeypatch.setattr(SystemClock, "boot", lambda _: (boot_id, boot_s + later_s[0]))
    statements: list[str] = []
    event.listen(database._engine, "before_cursor_execute", lambda *said: statements.append(said[2]))

    moments = []
    for later_s[0] in (0.0, 0.25, 0.5, 1.0, 1.25):
        with database.write() as session:
            moments += [current_time(session).timestamp(), lease_now(session)[1]]
    elapsed = [round(moment - moments[0], 2) for moment in moments[:6]]
    assert elapsed == [0.0, 0.0, 0.25, 0.25, 0.5, 0.5]  # counted since the server was asked
    assert sum("clock_timestamp" in statement for statement in statements) == 2


def test_K19_a_host_whose_clock_differs_says_so(
    host: Callable[..., Database], caplog: pytest.LogCaptureFixture
) -> None:
    for wrong in ({"minutes": 2}, {"minutes": -2}, {"seconds": 3}, {"seconds": -3}):
        database = host(**wrong)
        for _ in range(3):  # and no more than once a minute
            with database.read() as session:
                lease_now(session)
        assert database.server_clock.host_ahead_s == pytest.approx(timedelta(**wrong).total_seconds(), abs=1)

    told = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.getMessage() for record in told] == ["host_clock_differs"] * 2
    assert [round(vars(record)["ahead_s"]) for record in told] == [120, -120]


def test_K19_the_server_s_clock_is_a_witness_of_runners(host: Callable[..., Database]) -> None:
    database = host(hours=1)
    clock = ClockWatch.for_database(database)
    assert clock.ahead_s() == 0  # the server was not asked yet

    with database.read() as session:
        lease_now(session)

    assert clock.ahead_s() == pytest.approx(3600, abs=5)


def test_a_clock_that_was_set_on_purpose_counts(postgres_url: str) -> None:
    database = Database(postgres_url, clock=FakeClock())
    with database.read() as session:
        assert current_time(session) - START < timedelta(seconds=1)
    database.dispose()
