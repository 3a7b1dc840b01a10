"""Connect to the database (SQLite in WAL mode, or PostgreSQL) and open transactions for reading and writing."""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from sqlalchemy import (
    Connection,
    CursorResult,
    Dialect,
    Engine,
    NullPool,
    String,
    bindparam,
    create_engine,
    event,
    func,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session
from sqlalchemy.sql import Executable

from referee.db.clock import Clock, SystemClock
from referee.db.driver_errors import is_damage, is_outage, raise_as_sqlalchemy
from referee.db.prepared import Prepared, use_driver_of
from referee.db.server_clock import ServerClock
from referee.db.writer_lock import WriterLock
from referee.errors import Unavailable
from referee.settings import BadSettings, Settings

WRITE_WAIT_S = 5.0
POOL_SIZE = 10
WAL_PAGES = 4_000  # pages of 4 KiB in the write-ahead log before a checkpoint; with 1,000, a row costs 30 % more
# How long a PostgreSQL session may be idle inside a transaction before the server ends it. A writer holds locks, so a
# host that freezes or vanishes between two statements blocks all others for this long; a reader holds no locks.
WRITE_IDLE_S = 5.0
READ_IDLE_S = 60.0
LONG_IDLE_S = 600.0  # for work that computes between two statements: migrations, the audit and its repairs
DAMAGE_REMEMBERED_S = 600.0  # after an error that shows a damaged database


class Database:
    """Pool the connections to one database. Threads may share an instance; a forked child opens its own connections."""

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        write_wait_s: float = WRITE_WAIT_S,
        write_idle_s: float = WRITE_IDLE_S,
    ) -> None:
        self.url: URL = parse_database_url(url)
        self.clock: Clock = clock or SystemClock()
        self.server_clock = ServerClock()
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._write_wait_s = write_wait_s
        self._write_idle_s = write_idle_s
        self._damage_seen_at: float = float("-inf")
        self._gate = _create_gate(self.url, write_wait_s)
        create_engine_of_url = _create_sqlite_engine if self.is_sqlite else _create_postgres_engine
        self._engine = create_engine_of_url(self.url, write_wait_s)
        _DATABASES.add(self)

    @classmethod
    def from_settings(cls, settings: Settings) -> "Database":
        return cls(settings.database_url)

    @contextmanager
    def read(self, *, idle_s: float | None = None) -> Iterator[Session]:
        """Open a read-only snapshot of the database.

        ``idle_s`` replaces the limit ``READ_IDLE_S`` on the time between two statements.
        """
        snapshot = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._session({} if self.is_sqlite else snapshot) as session:
            if idle_s is not None:
                self._limit_idling(session, idle_s)
            yield session

    @contextmanager
    def write(self, *, durable: bool = True, idle_s: float | None = None) -> Iterator[Session]:
        """Open a transaction. Commit it at the end of the block, or roll it back if the block raises.

        A commit survives the crash of any process, including PostgreSQL's own. On SQLite, a power cut may undo a commit
        with ``durable=False``: use this for data that can be requested again. ``idle_s`` replaces the limit
        ``WRITE_IDLE_S`` on the time between two statements. Raise ``Unavailable`` when the lock cannot be acquired in
        time or the database cannot write.
        """
        access = {"referee_access": "durable" if durable else "write"}
        with self._gate(), _mark_writing(), self._session(access) as session:
            self._limit_idling(session, idle_s or self._write_idle_s)
            yield session

    def _limit_idling(self, session: Session | Connection, idle_s: float, *, scope: str = "LOCAL") -> None:
        if not self.is_sqlite:
            session.execute(text(f"SET {scope} idle_in_transaction_session_timeout = {int(idle_s * 1000)}"))

    def was_damage_seen(self) -> bool:
        """Return whether a statement of this process failed in the last ten minutes because the database is damaged."""
        return bool(time.monotonic() - self._damage_seen_at < DAMAGE_REMEMBERED_S)

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Raise ``Unavailable`` in place of transient database errors. Note errors that show damage."""
        try:
            yield
        except DBAPIError as error:
            if is_damage(error):
                self._damage_seen_at = time.monotonic()
            elif is_outage(error):
                raise Unavailable(f"the database is not available: {error.orig}") from error
            raise
        except (sqlite3.OperationalError, PoolTimeout) as error:  # raised while a connection was opened or set up
            raise Unavailable(f"the database is not available: {error}") from error

    @contextmanager
    def _session(self, options: dict[str, Any]) -> Iterator[Session]:
        engine = self._engine.execution_options(**options)
        with self._translating_errors(), Session(engine, expire_on_commit=False) as session:
            session.info["database"] = self
            with session.begin():
                yield session

    @contextmanager
    def migration_connection(self) -> Iterator[Connection]:
        """Open a connection for migrations: one transaction without other writers, with foreign keys not enforced."""
        engine = self._engine.execution_options(referee_access="durable")
        if self.is_sqlite:
            _make_private_file(Path(str(self.url.database)))
        with self._gate(), self._translating_errors(), engine.connect() as connection:
            if self.is_sqlite:
                _set_pragma(connection, "foreign_keys", "OFF")
            try:
                with connection.begin():
                    self._limit_idling(connection, LONG_IDLE_S)
                    if not self.is_sqlite:
                        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('schema', 0))"))
                    yield connection
            finally:
                if self.is_sqlite:
                    _set_pragma(connection, "foreign_keys", "ON")

    @contextmanager
    def inspection_connection(self) -> Iterator[Connection]:
        """Open a connection that creates no file and changes neither the database nor its journal mode."""
        engine = _read_only_engine(self.url) if self.is_sqlite else self._engine
        with self._translating_errors(), engine.connect() as connection:
            yield connection

    @property
    def dialect(self) -> Dialect:
        return self._engine.dialect

    def keep_connection(self) -> "KeptConnection":
        """Return a connection for many transactions of one thread."""
        return KeptConnection(self)

    def dispose(self) -> None:
        """Close all connections. New ones are opened when needed."""
        self._engine.dispose()

    def _after_fork(self) -> None:
        # The parent keeps its connections and locks, so the child drops them without closing them.
        self._engine.dispose(close=False)
        self._gate = _create_gate(self.url, self._write_wait_s)


class KeptConnection:
    """Keep one connection and its session for many transactions of one thread. After an error, open new ones.

    Taking a connection from the pool, testing it and setting it up costs ten times as much as an empty transaction, and
    a new session costs twice as much.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._session: Session | None = None

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Session]:
        """Open a transaction as ``Database.write`` does."""
        with self._database._gate(), _mark_writing(), self._begin("durable" if durable else "write") as session:
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a transaction that only reads. On PostgreSQL each statement sees all earlier commits."""
        with self._begin("read") as session:
            yield session

    def close(self) -> None:
        """Close the connection for good, since statements of the driver may have left it in any state."""
        session, self._session = self._session, None
        if session is not None:
            session.close()
            connection = cast(Connection, session.bind)
            connection.invalidate()
            connection.close()

    @contextmanager
    def _begin(self, access: str) -> Iterator[Session]:
        with self._database._translating_errors():
            session = self._session = self._session or self._open()
            connection = cast(Connection, session.bind)
            if connection.get_execution_options().get("referee_access") != access:
                connection.execution_options(referee_access=access)
            try:
                with connection.begin():
                    yield session
                    session.flush()  # the session joins the transaction when it is first used, and cannot commit it
                if session.in_transaction():  # it was used, and not only its connection
                    session.close()
            except BaseException:
                self.close()
                raise

    def _open(self) -> Session:
        connection = self._database._engine.connect()
        with connection.begin():
            self._database._limit_idling(connection, self._database._write_idle_s, scope="SESSION")
        session = Session(connection, expire_on_commit=False)
        session.info["database"] = self._database
        use_driver_of(connection, session)
        return session


def parse_database_url(text: str) -> URL:
    """Return the URL of a database with its driver. Raise ``BadSettings`` if it is not SQLite or PostgreSQL."""
    try:
        url = make_url(text)
        return url.set(drivername=_DRIVERS[url.get_backend_name()])
    except (ArgumentError, KeyError, ValueError):
        # The message omits the URL: it may contain a password.
        raise BadSettings("DATABASE_URL must be like postgresql://user@host/name or sqlite:////path/to/file") from None


def current_time(session: Session) -> Any:
    """Return the date and time in UTC, for timestamps of rows: on PostgreSQL those of the server, for all hosts."""
    database = get_database(session)
    if database.is_sqlite or not isinstance(database.clock, SystemClock):  # another clock was set on purpose
        return database.clock.utc_now()
    return datetime.fromtimestamp(database.server_clock.seconds(session, database.clock), UTC)


def lease_now(session: Session) -> tuple[str, float]:
    """Return the current time of the clock that leases use, as (boot id, seconds).

    On SQLite, this is the time since the host booted. On PostgreSQL, it is the time of the database server, which is
    the same for all hosts; the boot id is then "".
    """
    database = get_database(session)
    if database.is_sqlite:
        return database.clock.boot()
    return "", database.server_clock.seconds(session, database.clock)


def get_database(session: Session) -> Database:
    return cast(Database, session.info["database"])


def take_advisory_lock(session: Session, name: str) -> None:
    """Take the advisory lock ``name`` and hold it until the transaction ends.

    Do nothing on SQLite, where writers take turns.
    """
    if not get_database(session).is_sqlite:
        _ADVISORY_LOCK.rows(session, {"what": name})


_ADVISORY_LOCK = Prepared(select(func.pg_advisory_xact_lock(func.hashtextextended(bindparam("what", type_=String), 0))))


def is_writing() -> bool:
    """Return whether this thread has an open write transaction, during which it must not use the network."""
    return _WRITES.open > 0


def count_changed_rows(session: Session, statement: Executable, *args: Any) -> int:
    """Execute a statement. Return the number of rows that it changed."""
    return cast("CursorResult[Any]", session.execute(statement, *args)).rowcount


# -- SQLite --


_SYNCHRONOUS = {"durable": "FULL", "write": "NORMAL"}


def _create_sqlite_engine(url: URL, wait_s: float) -> Engine:
    if url.database in (None, "", ":memory:"):
        raise BadSettings("DATABASE_URL must name the file of the database: sqlite:////path/to/file")
    Path(str(url.database)).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    engine = create_engine(
        url,
        pool_size=POOL_SIZE,
        max_overflow=-1,
        connect_args={"timeout": wait_s, "check_same_thread": False},
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # the driver would send BEGIN too late, and snapshots would conflict
        pragmas = {"journal_mode": "WAL", "foreign_keys": "ON", "synchronous": "FULL"}
        for name, value in {**pragmas, "wal_autocheckpoint": WAL_PAGES}.items():
            connection.execute(f"PRAGMA {name}={value}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        access = connection.get_execution_options().get("referee_access", "read")
        reads = access == "read"
        pragmas = {"query_only": "ON"} if reads else {"query_only": "OFF", "synchronous": _SYNCHRONOUS[access]}
        for pragma, value in pragmas.items():
            if connection.info.get(pragma) != value:
                _set_pragma(connection, pragma, value)
                connection.info[pragma] = value
        statement = "BEGIN" if reads else "BEGIN IMMEDIATE"
        try:  # without SQLAlchemy, which takes three times as long
            cast(sqlite3.Connection, connection.connection.dbapi_connection).execute(statement)
        except sqlite3.Error as error:
            raise_as_sqlalchemy(error, statement)
            raise

    return engine


def _make_private_file(path: Path) -> None:
    """Create the file, unless it exists, so that only its owner can read it. SQLite gives the WAL the same mode."""
    with suppress(FileExistsError):  # do not open an existing file: closing it would release SQLite's locks
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _set_pragma(connection: Connection, pragma: str, value: str) -> None:
    # Bypass SQLAlchemy, which would begin a transaction first: SQLite ignores these pragmas inside one.
    cast(sqlite3.Connection, connection.connection.dbapi_connection).execute(f"PRAGMA {pragma}={value}").close()


def _read_only_engine(url: URL) -> Engine:
    # Without a write-ahead log, the file contains everything. It can then be read without locks, and so without the
    # shared-memory file that SQLite otherwise creates next to it.
    query = {"uri": "true", "mode": "ro"}
    if not Path(f"{url.database}-wal").exists():
        query["immutable"] = "1"
    return create_engine(url.set(database=f"file:{quote(str(url.database))}", query=query), poolclass=NullPool)


# -- PostgreSQL --


def _create_postgres_engine(url: URL, wait_s: float) -> Engine:
    keepalive = {name: value for name, value in _CLIENT_KEEPALIVE.items() if name not in url.query}
    engine = create_engine(
        url,
        pool_size=POOL_SIZE,
        max_overflow=20,
        pool_pre_ping=True,
        pool_timeout=wait_s,
        connect_args=keepalive,
        hide_parameters=True,  # values of rows do not belong into logs
    )
    limits = {"lock_timeout": wait_s, "idle_in_transaction_session_timeout": READ_IDLE_S}
    settings = _SERVER_KEEPALIVE | {name: int(seconds * 1000) for name, seconds in limits.items()}

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("; ".join(f"SET {name} = {value}" for name, value in settings.items()))
        connection.commit()

    return engine


# Both ends of a connection notice within about 10 s that the other end has vanished; with the default settings of the
# operating systems this takes minutes to hours. Parameters in the URL take precedence.
_CLIENT_KEEPALIVE: dict[str, int] = {
    "connect_timeout": 10,  # seconds
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
}
_SERVER_KEEPALIVE: dict[str, int] = {
    "tcp_keepalives_idle": 5,
    "tcp_keepalives_interval": 2,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "client_connection_check_interval": 5_000,  # milliseconds, while a statement runs or waits for a lock
}


# -- both --


_DRIVERS = {"postgresql": "postgresql+psycopg", "sqlite": "sqlite+pysqlite"}


def _create_gate(url: URL, wait_s: float) -> Callable[[], AbstractContextManager[None]]:
    if url.get_backend_name() == "sqlite":
        return WriterLock(Path(f"{url.database}.lock"), wait_s)
    return nullcontext


class _Writes(threading.local):
    """Count the open write transactions of each thread."""

    open = 0


_WRITES = _Writes()


@contextmanager
def _mark_writing() -> Iterator[None]:
    """Make ``is_writing`` true while the block runs."""
    _WRITES.open += 1
    try:
        yield
    finally:
        _WRITES.open -= 1


_DATABASES: weakref.WeakSet[Database] = weakref.WeakSet()  # all databases of this process, for forked children


def _forget_connections() -> None:
    for database in list(_DATABASES):
        database._after_fork()


os.register_at_fork(after_in_child=_forget_connections)
