"""Transactions, locks and forks of the database."""

import os
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import event, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from referee import schema
from referee.accounts import accounts
from referee.accounts.tables import Account, Token
from referee.db.clock import SystemClock
from referee.db.engine import LONG_IDLE_S, Database, lease_now
from referee.db.revisions import is_usable_at_start
from referee.errors import Unavailable
from referee.ladders import ledger
from referee.settings import BadSettings
from tests.database import postgres
from tests.database.world import FakeClock, World

MOMENT = datetime(2026, 1, 2, tzinfo=UTC)


def names(session: Session) -> list[str]:
    return sorted(session.scalars(select(Account.name)))


def test_a_transaction_that_raises_leaves_nothing_and_a_reader_cannot_write(database: Database) -> None:
    with suppress(RuntimeError), database.write() as session:
        accounts.create_account(session, "Ann Owner")
        raise RuntimeError("half way")
    with pytest.raises((DBAPIError, Unavailable)), database.read() as session:
        session.execute(text("DELETE FROM accounts"))

    with database.read() as session:
        assert names(session) == []
    with database.write() as session:
        account = accounts.create_account(session, "Ann Owner")
    assert account.name == "Ann Owner"  # what was read stays readable after the transaction
    assert account.created_at.utcoffset() is not None


def test_F12_a_reader_sees_one_snapshot_while_others_write(database: Database) -> None:
    with database.read() as reading:
        assert names(reading) == []

        with database.write() as session:
            accounts.create_account(session, "Ann Owner")

        assert names(reading) == []
    with database.read() as session:
        assert names(session) == ["Ann Owner"]


def test_rows_that_point_nowhere_are_refused(database: Database) -> None:
    token = {"account_id": "acc_nobody", **dict.fromkeys(("id", "name", "sha256", "hint"), "x")}
    with pytest.raises(IntegrityError), database.write() as session:
        session.add(Token(**token, scopes=[], created_at=MOMENT))


@pytest.mark.parametrize("is_kept", [False, True])
def test_K17_only_decisions_may_be_lost_and_on_sqlite_alone(database: Database, is_kept: bool) -> None:
    kept = database.keep_connection()
    source = kept if is_kept else database
    for durable, level in ((True, 2), (False, 1), (True, 2)):
        with source.write(durable=durable) as session:
            if database.is_sqlite:
                assert session.scalar(text("PRAGMA synchronous")) == level
                assert session.scalar(text("PRAGMA journal_mode")) == "wal"
            else:
                assert session.scalar(text("SHOW synchronous_commit")) == "on"
                assert session.scalar(text("SHOW idle_in_transaction_session_timeout")) == "5s"
        with source.read() as session:
            names(session)
    kept.close()


def test_a_kept_connection_reads_writes_rolls_back_and_forgets_as_transactions_of_their_own_do(
    database: Database,
) -> None:
    kept = database.keep_connection()
    with kept.write() as session:
        account_id = accounts.create_account(session, "Ann Owner").id
    with suppress(RuntimeError), kept.write(durable=False) as session:
        accounts.create_account(session, "Bob Owner")
        raise RuntimeError("half way")
    with kept.write() as session:
        session.add(schema.Account(id="acc_1", name="Cid", normalized_name="cid", role="owner", created_at=MOMENT))
    with database.write() as session:
        session.get_one(Account, account_id).name = "Ann Other"

    with kept.read() as session:
        assert not session.in_transaction()
        assert session.get_one(Account, account_id).name == "Ann Other"
        assert names(session) == ["Ann Other", "Cid"]  # also what the ORM had not written yet
    kept.close()
    with database.read() as session:
        assert names(session) == ["Ann Other", "Cid"]


def test_a_kept_connection_that_cannot_begin_is_unavailable(sqlite_url: str) -> None:
    kept = Database(sqlite_url, write_wait_s=0.05).keep_connection()
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"), kept.write():
        pass

    other.execute("ROLLBACK")
    with kept.write() as session:
        accounts.create_account(session, "Ann Owner")
    kept.close()


def test_a_kept_connection_opens_another_after_an_error(database: Database) -> None:
    kept = database.keep_connection()
    opened = []
    event.listen(database._engine, "connect", lambda *_: opened.append(1))
    for _ in range(3):
        with kept.read() as session:
            session.execute(text("SELECT 1"))
    before = len(opened)
    with suppress(DBAPIError, Unavailable), kept.write() as session:
        session.execute(text("SELECT nothing FROM nowhere"))

    with kept.write() as session:
        accounts.create_account(session, "Ann Owner")

    assert (before, len(opened)) == (1, 2)
    kept.close()


def test_many_threads_write_without_losing_an_update(world: World) -> None:
    token = world.account()

    def count_up(_: int) -> None:
        for _ in range(10):
            with world.database.write() as session:
                account = session.get_one(Account, token, with_for_update=True)
                account.name = str(int(account.name) + 1) if account.name.isdigit() else "1"

    with ThreadPoolExecutor(5) as threads:
        list(threads.map(count_up, range(5)))

    with world.database.read() as session:
        assert names(session) == ["50"]


def test_a_forked_child_opens_connections_of_its_own(world: World) -> None:
    account_id = world.account()
    with world.database.write() as parents:
        # The child is forked while the parent holds the lock and a connection; it must neither wait for a lock
        # that only the parent can release, nor end the parent's transaction by closing an inherited connection.
        in_child = forked(lambda: child_reads(world.database))
        accounts.create_account(parents, "Of the parent")
    child_wrote = forked(lambda: child_writes(world.database, account_id))

    assert (in_child, child_wrote) == (0, 0)
    with world.database.read() as session:
        assert names(session) == ["From the child", "Of the parent"]


def child_reads(database: Database) -> None:
    with database.read() as session:
        assert len(names(session)) == 1


def child_writes(database: Database, account_id: str) -> None:
    with database.write() as session:
        session.get_one(Account, account_id).name = "From the child"


def forked(work: Callable[[], None]) -> int:
    """Do the work in a forked child; return its exit status, 0 on success."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def rename_everybody(session: Session) -> None:
    session.execute(text("UPDATE accounts SET name = 'never committed'"))


@contextmanager
def another_process_in_a_write(database: Database, work: Callable[[Session], None] = rename_everybody) -> Iterator[int]:
    """Keep a process inside a write transaction, in which it has done some ``work``, until the block ends."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            with database.write() as session:
                work(session)
                os.write(write_end, b"x")
                time.sleep(60)
        finally:
            os._exit(1)
    try:
        assert os.read(read_end, 1) == b"x"
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(read_end)
        os.close(write_end)


def test_K14_K33_writers_give_up_in_time_while_readers_go_on(url: str) -> None:
    database = Database(url, clock=FakeClock(), write_wait_s=0.3)
    with database.write() as session:
        account_id = accounts.create_account(session, "Ann Owner").id

    with another_process_in_a_write(database) as pid:
        os.kill(pid, signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(Unavailable), database.write() as session:
            session.get_one(Account, account_id, with_for_update=True)
        waited = time.monotonic() - began
        with database.read() as session:
            assert names(session) == ["Ann Owner"]
    with database.write() as session:  # the holder is dead: the others continue
        session.get_one(Account, account_id, with_for_update=True).name = "Ben Owner"

    assert 0.25 < waited < 5
    database.dispose()


# -- PostgreSQL: hosts that freeze or vanish --


def test_K33_who_freezes_while_it_records_a_result_holds_up_the_others_no_longer_than_is_allowed(
    postgres_url: str,
) -> None:
    database = Database(postgres_url, write_wait_s=30, write_idle_s=0.5)

    def record_a_result(session: Session) -> None:
        ledger.lock_ledger(session)

    with another_process_in_a_write(database, record_a_result) as pid:
        os.kill(pid, signal.SIGSTOP)
        with database.write(idle_s=60) as session:
            record_a_result(session)  # possible only once the server has ended the session of the stopped process
        assert os.waitpid(pid, os.WNOHANG) == (0, 0)  # which is still there and has committed nothing
    database.dispose()


def test_K33_a_writer_may_be_silent_for_seconds_and_who_says_so_for_longer(postgres_url: str) -> None:
    database = Database(postgres_url)
    opened = (
        *((database.write(), "5s"), (database.write(idle_s=LONG_IDLE_S), "10min"), (database.read(), "1min")),
        *((database.read(idle_s=LONG_IDLE_S), "10min"), (database.migration_connection(), "10min")),
    )

    for transaction, allowed in opened:
        with transaction as session:
            assert session.scalar(text("SHOW idle_in_transaction_session_timeout")) == allowed
    database.dispose()


def test_K33_either_end_of_a_connection_notices_within_seconds_that_the_other_vanished(
    postgres_server: postgres.Server, postgres_url: str
) -> None:
    shown = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout")
    options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)

    for query, idle_s in (("", 5), ("?keepalives_idle=77", 77)):  # what the URL says comes first
        database = Database(postgres_server.url_by_tcp("filled") + query)
        with database.read() as session:
            server = [session.scalar(text(f"SHOW {name}")) for name in (*shown, "client_connection_check_interval")]
            connection: psycopg.Connection = session.connection().connection.dbapi_connection  # type: ignore[assignment]
            with socket.socket(fileno=os.dup(connection.fileno())) as line:
                ours = [line.getsockopt(socket.IPPROTO_TCP, option) for option in options]
                assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        database.dispose()
        assert (ours, server) == ([idle_s, 2, 3, 10_000], ["5", "2", "3", "10000", "5s"])


def test_E25_a_full_disk_is_unavailable_and_leaves_no_half_effect(sqlite_url: str) -> None:
    database = Database(sqlite_url)

    def fill(session: Session) -> None:
        accounts.create_account(session, "Ann Owner")
        session.execute(text("PRAGMA max_page_count = 1"))  # no page can be added any more
        session.execute(text("UPDATE accounts SET name = :long"), {"long": "x" * 1_000_000})

    with pytest.raises(Unavailable), database.write() as session:
        fill(session)

    with database.read() as session:
        assert names(session) == []
    database.dispose()


def test_a_server_that_is_gone_or_never_answers_is_unavailable(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        gone = Database(f"postgresql://referee@/none?host={tmp_path}")
        mute = Database(f"postgresql://referee@127.0.0.1:{silent.getsockname()[1]}/none?connect_timeout=2")
        for attempt, problem in (
            *((gone.read(), "not available"), (gone.write(), "not available"), (mute.read(), "timeout")),
            (mute.keep_connection().write(), "timeout"),
        ):
            with pytest.raises(Unavailable, match=problem), attempt as session:
                names(session)
        assert is_usable_at_start(mute)


def test_K19_leases_are_not_judged_by_the_date(world: World) -> None:
    before = world.read(lease_now)
    world.clock.moment = world.clock.moment.replace(year=2099)
    after = world.read(lease_now)

    assert before[0] == after[0]
    assert 0 <= after[1] - before[1] < 60


def test_the_clock_of_leases_runs_on_and_knows_the_boot() -> None:
    (boot, seconds), (again, later) = SystemClock().boot(), SystemClock().boot()

    assert boot == again != ""
    assert later >= seconds


def test_other_systems_and_memory_are_refused() -> None:
    with pytest.raises(BadSettings, match="postgresql"):
        Database("mysql://localhost/x")
    with pytest.raises(BadSettings, match="file"):
        Database("sqlite://")


def test_a_record_whose_readers_are_too_many_is_unavailable(url: str) -> None:
    database = Database(url, write_wait_s=0.1)
    most = 30  # of PostgreSQL's connections by one process; SQLite's are files and cost nothing
    with ExitStack() as open_ones:
        for _ in range(most):
            open_ones.enter_context(database.read()).execute(text("SELECT 1"))
        if database.is_sqlite:
            open_ones.enter_context(database.read()).execute(text("SELECT 1"))
        else:
            with pytest.raises(Unavailable), database.read() as session:
                names(session)
    database.dispose()
