"""The thread that uses the database for a runner: what shares a transaction, in which order, and what outlives what."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from referee import schema
from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee.errors import StaleEpoch, Unavailable
from referee.matches.logs.recording import MatchUpdate
from referee.matches.queue.claims import Claim
from referee.workflows.ending.match_end import FinishedMatch
from tests.database import postgres
from tests.database.world import FakeClock, World, outcome, played
from tests.end_to_end.processes import gone, until
from tests.surroundings import MASTER_KEY
from workers.database_thread import DatabaseThread

PATIENCE_S = 60.0


@pytest.fixture
def server() -> Iterator[postgres.Server]:
    """Return a server that flushes a commit if somebody waits for it, and otherwise only after ten seconds."""
    try:
        with postgres.server(wal_writer_delay="10s") as running:
            yield running
    except postgres.NoPostgres as error:
        if postgres.REQUIRED:
            pytest.fail(f"PostgreSQL is required here: {error}")
        pytest.skip(f"NOT RUN ON POSTGRESQL: {error}")


def test_K17_a_recorded_decision_outlives_a_crash_of_the_database(server: postgres.Server) -> None:
    database = Database(server.url("postgres"), clock=FakeClock())
    upgrade(database)
    world = World(database)
    match_id = world.match()
    (claim,) = world.claim()

    def kill_a_backend() -> None:
        backends = server.backends()
        os.kill(backends[0], signal.SIGKILL)
        until(lambda: all(gone(pid) for pid in backends), "the end of all sessions, to which one that is killed leads")

    def kill_the_server() -> None:
        server.kill()
        server.start()

    crashes: list[Callable[[], None]] = [kill_a_backend, kill_the_server]
    rows: list[bytes] = []
    for crash in crashes:
        line = b'{"before": "%s"}' % crash.__name__.encode()
        with closing(DatabaseThread(database, master_key=MASTER_KEY)) as thread:
            asyncio.run(thread.record(MatchUpdate(match_id, claim.epoch, len(rows), [line])))
            rows.append(line)

            crash()

        until(lambda: answers(world, match_id), "an answer of the database")
        assert world.load(match_id).lines == rows, crash.__name__
    database.dispose()


def answers(world: World, match_id: str) -> bool:
    """Return whether the database has recovered."""
    try:
        world.load(match_id)
    except Unavailable:
        return False
    return True


# -- what shares a transaction --


class Watched:
    """A thread on a database whose transactions and their work are written down."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.transactions: list[str] = []
        self.work: list[str] = []
        self.thread = DatabaseThread(world.database, master_key=MASTER_KEY)
        connection = self.thread._connection
        for name in ("read", "write"):
            setattr(connection, name, self._noted(name, getattr(connection, name)))

    def _noted(self, name: str, begin: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def transaction(**options: Any) -> Iterator[Session]:
            self.transactions.append("durable" if options.get("durable") else name)
            with begin(**options) as session:
                yield session

        return transaction

    def does(self, name: str) -> Callable[[Session], str]:
        def operation(_: Session) -> str:
            self.work.append(name)
            return name

        return operation

    def claimed(self) -> Claim:
        match_id = self.world.match()
        (claim,) = self.world.claim(match_id=match_id)
        self.world.open_group(match_id)
        return claim


@pytest.fixture
def watched(database: Database) -> Iterator[Watched]:
    watched = Watched(World(database))
    yield watched
    watched.thread.close()


def line(text: str) -> bytes:
    return b'{"line": "%s"}' % text.encode()


async def test_all_writes_requested_in_one_turn_of_the_loop_share_a_transaction_after_reads(watched: Watched) -> None:
    claims, thread = [watched.claimed() for _ in range(3)], watched.thread

    found = await asyncio.gather(
        thread.write_soon(watched.does("soon")),
        thread.read(watched.does("read")),
        *(thread.record(MatchUpdate(*claim, 0, [line("a")])) for claim in claims),
    )

    assert list(found) == ["soon", "read", None, None, None]
    assert watched.transactions == ["read", "write"]
    assert [watched.world.load(claim.match_id).lines for claim in claims] == [[line("a")]] * 3


async def test_a_transaction_begins_after_the_first_turn_of_the_loop_that_brings_no_more_work(watched: Watched) -> None:
    thread = watched.thread

    async def later(turns: int) -> str:
        for _ in range(turns):
            await asyncio.sleep(0)
        return await thread.write_soon(watched.does(f"after {turns} turns"))

    # The longest wait first: so work comes before the thread looks for it, in each turn, however fast it is.
    await asyncio.gather(*(later(turns) for turns in (5, 2, 1, 0)))

    assert watched.work == [f"after {turns} turns" for turns in (0, 1, 2, 5)]
    assert watched.transactions[0] == "write"
    assert len(watched.transactions) == 2, "the last came after a turn that brought nothing"


async def test_what_is_requested_during_a_transaction_forms_the_next(watched: Watched) -> None:
    thread, entered, leave = watched.thread, threading.Event(), threading.Event()

    def slow(_: Session) -> None:
        entered.set()
        leave.wait(PATIENCE_S)

    first = asyncio.create_task(thread.write(slow))
    await asyncio.to_thread(entered.wait, PATIENCE_S)
    others = [asyncio.create_task(thread.write_soon(watched.does("soon"))) for _ in range(5)]
    await asyncio.sleep(0)
    leave.set()
    await asyncio.gather(first, *others)

    assert watched.transactions == ["durable", "write"]


async def test_a_job_that_must_be_durable_makes_its_transaction_durable_and_readers_write_nothing(
    watched: Watched,
) -> None:
    thread = watched.thread

    await asyncio.gather(thread.write_soon(watched.does("soon")), thread.write(watched.does("durable")))
    await asyncio.gather(thread.read(watched.does("a")), thread.read(watched.does("b")))

    assert watched.transactions == ["durable", "read"]


async def test_rows_come_before_calls_and_ends_come_last(watched: Watched) -> None:
    world, thread, claim, ending = watched.world, watched.thread, watched.claimed(), watched.claimed()
    match = world.resumed(ending.match_id)
    played(match)
    finished = FinishedMatch(MatchUpdate(*ending, 0, match.lines), [], outcome(match))

    def look(session: Session) -> tuple[int, int]:
        rows = session.scalars(select(func.count()).select_from(schema.LogRow)).one()
        return rows, session.scalars(select(func.count()).select_from(schema.Result)).one()

    end, seen, _ = await asyncio.gather(
        thread.finish(finished), thread.write_soon(look), thread.record(MatchUpdate(*claim, 0, [line("a")]))
    )

    assert (end.result.match_id, seen) == (ending.match_id, (1, 0))
    assert watched.transactions == ["durable"]


async def test_a_job_that_fails_takes_nothing_of_the_others_along(watched: Watched) -> None:
    thread, good, lost = watched.thread, watched.claimed(), watched.claimed()

    def broken(session: Session) -> None:
        session.execute(text("UPDATE bots SET name = 'half'"))
        raise RuntimeError("half way")

    recorded, stale, error, whole = await asyncio.gather(
        thread.record(MatchUpdate(*good, 0, [line("a")])),
        thread.record(MatchUpdate(lost.match_id, lost.epoch + 1, 0, [line("b")])),
        thread.write(broken),
        thread.write(watched.does("whole")),
        return_exceptions=True,
    )

    assert (recorded, type(stale), type(error), whole) == (None, StaleEpoch, RuntimeError, "whole")
    assert watched.world.load(good.match_id).lines == [line("a")]
    assert watched.world.load(lost.match_id).lines == []
    assert "half" not in watched.world.scalars(select(schema.Bot.name))


async def test_K14_rows_wait_for_a_database_that_is_not_available_and_keep_their_order(watched: Watched) -> None:
    thread, claim = watched.thread, watched.claimed()
    outage = OutageOf(watched, attempts=3)

    await asyncio.gather(
        thread.record(MatchUpdate(*claim, 0, [line("a")])), thread.record(MatchUpdate(*claim, 1, [line("b")]))
    )

    assert outage.left == 0
    assert watched.world.load(claim.match_id).lines == [line("a"), line("b")]


def test_K14_a_call_does_not_wait_for_a_database_that_is_not_available(watched: Watched) -> None:
    OutageOf(watched, attempts=1)

    with pytest.raises(Unavailable):
        asyncio.run(watched.thread.write(watched.does("never")))

    assert watched.work == []


def test_K14_a_runner_that_gives_up_gets_all_it_asked_for_back_as_an_error(watched: Watched) -> None:
    thread, claim = watched.thread, watched.claimed()
    outage = OutageOf(watched, attempts=1000)
    thread.give_up()

    async def story() -> Any:
        return await asyncio.gather(
            thread.record(MatchUpdate(*claim, 0, [line("a")])),
            *(thread.write(watched.does("never")) for _ in range(50)),
            return_exceptions=True,
        )

    assert {type(error) for error in asyncio.run(story())} == {Unavailable}
    assert outage.left == 998, "each of the calls waited for the lock again"


class OutageOf:
    """An outage of the database that ends after some attempts."""

    def __init__(self, watched: Watched, attempts: int) -> None:
        self.left = attempts
        self._write = watched.thread._connection.write
        watched.thread._connection.write = self._refused  # type: ignore[method-assign]

    @contextmanager
    def _refused(self, **options: Any) -> Iterator[Session]:
        if self.left > 0:
            self.left -= 1
            raise Unavailable("no database")
        with self._write(**options) as session:
            yield session
