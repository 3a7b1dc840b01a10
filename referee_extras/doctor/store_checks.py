"""Check the database, Redis, and what workers and schedulers report there."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Final
from urllib.parse import urlsplit

from redis.exceptions import RedisError, ResponseError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from referee.db import revisions
from referee.db.engine import Database
from referee.errors import RefereeError
from referee.metrics import shared
from referee_extras.doctor.findings import DeploymentFinding, failure, ok, skip_check, warning
from workers.queues import QUEUE
from workers.reports import read_reports

NewestBackup = Callable[[Path], tuple[Path, datetime] | None]  # what the extra ``backups`` offers

SLOW_MS: Final = 50.0
CLOCK_WARNING_S: Final = 5.0
CLOCK_FAILURE_S: Final = 30.0
BACKUP_OLD_S: Final = 2 * 86_400.0
DURABLE: Final = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}


def check_database(database: Database) -> list[DeploymentFinding]:
    """Check that the database answers fast, has the right schema, and keeps what it confirms."""
    try:
        revisions.check(database)
        with database.read() as session:
            latency_ms = _measure_ms(session)
            durability = _check_sqlite(session) if database.is_sqlite else _check_postgres(session)
    except revisions.WrongSchema as error:
        return [failure("database", str(error), "Upgrade the schema, or install the version that made it.")]
    except (SQLAlchemyError, RefereeError) as error:
        advice = "Start the database, and compare DATABASE_URL with its address, user and password."
        return [failure("database", f"the database does not answer: {_first_line(error)}", advice)]
    kind = "SQLite" if database.is_sqlite else "PostgreSQL"
    if latency_ms > SLOW_MS:
        found = f"a statement takes {latency_ms:.0f} ms"
        durability.append(warning("database", found, "Move the database closer, or find out what keeps it busy."))
    return durability or [
        ok("database", f"{kind} answers in {latency_ms:.1f} ms, with schema {revisions.required_revision()}")
    ]


def _measure_ms(session: Session) -> float:
    times = []
    for _ in range(5):
        began = time.perf_counter()
        session.execute(text("SELECT 1")).all()
        times.append(1000 * (time.perf_counter() - began))
    return median(times)


def _check_postgres(session: Session) -> list[DeploymentFinding]:
    findings = []
    for name, wanted in DURABLE.items():
        value = session.scalar(text(f"SHOW {name}"))
        if value not in (wanted, "remote_apply", "remote_write"):
            found = f"{name} is {value}: a power cut may lose results that were announced"
            findings.append(failure("database", found, f"Set {name} = {wanted} in postgresql.conf and reload it."))
    isolation = session.scalar(text("SHOW default_transaction_isolation"))
    if isolation != "read committed":
        found = f"default_transaction_isolation is {isolation}: concurrent claims would fail"
        findings.append(failure("database", found, "Set it to 'read committed', the default of PostgreSQL."))
    version = int(session.scalar(text("SHOW server_version_num")) or 0)
    if version < 140_000:
        found = f"the server is PostgreSQL {version // 10_000}"
        findings.append(failure("database", found, "Upgrade it to 14 or newer."))
    return findings


def _check_sqlite(session: Session) -> list[DeploymentFinding]:
    mode = session.scalar(text("PRAGMA journal_mode"))
    if mode != "wal":
        found = f"the journal mode is {mode} instead of WAL"
        return [failure("database", found, "Move the data directory to a local disk: WAL works on no network drive.")]
    return []


def check_redis(redis_url: str, production: bool) -> list[DeploymentFinding]:
    """Check that Redis answers, keeps what it has, and is not open to others."""
    if not _is_redis_url(redis_url):
        advice = "Set it to one like redis://:PASSWORD@HOST:6379/0, with special characters of the password as %23."
        return [failure("redis", "REDIS_URL is not a URL of a Redis server", advice)]
    findings = [*_check_password(redis_url, production)]
    try:
        with shared.connect(redis_url) as redis:
            findings += _check_server(redis)
    except RedisError as error:
        advice = "Start Redis, and compare REDIS_URL with its address and password. Results are safe meanwhile."
        return [failure("redis", f"Redis does not answer: {_first_line(error)}", advice)]
    return findings or [ok("redis", "Redis answers, writes to disk, and evicts nothing")]


def _is_redis_url(text: str) -> bool:
    try:
        shared.connect(text).close()
    except ValueError:
        return False
    return True


def _check_password(redis_url: str, production: bool) -> Iterator[DeploymentFinding]:
    parts = urlsplit(redis_url)
    is_local = parts.scheme == "unix" or parts.hostname in ("127.0.0.1", "::1", "localhost")
    if not is_local and not parts.password:
        make = failure if production else warning
        found = f"REDIS_URL has no password, and {parts.hostname} is another host"
        yield make("redis", found, "Set requirepass: others who reach Redis may delete wake-ups and rate limits.")


def _check_server(redis: Any) -> Iterator[DeploymentFinding]:
    info = redis.info()
    if info.get("role") != "master":
        yield failure("redis", "the server is a replica and stores nothing", "Point REDIS_URL to the primary.")
    if not info.get("aof_enabled") and not _saves_snapshots(redis):
        found = "Redis keeps nothing on disk: a restart forgets rate limits and what was counted"
        yield warning("redis", found, "Set appendonly yes.")
    if info.get("aof_enabled") and info.get("aof_last_write_status") != "ok":
        yield failure("redis", "Redis cannot write its append-only file", "Make room on its disk.")
    policy = info.get("maxmemory_policy")
    if policy != "noeviction":
        found = f"maxmemory-policy is {policy}: Redis may drop wake-ups and rate limits"
        yield failure("redis", found, "Set maxmemory-policy noeviction.")
    others = sorted(name.decode().removeprefix("rq:queue:") for name in redis.smembers("rq:queues"))
    strangers = [name for name in others if name != QUEUE]
    if strangers:
        found = f"another program uses this database of Redis, with the queue {strangers[0]}"
        yield warning("redis", found, "Give the service its own database, with another number at the end of REDIS_URL.")


def _saves_snapshots(redis: Any) -> bool:
    """Return whether Redis saves snapshots. Hosted ones, which do, have no command for settings."""
    try:
        return bool(redis.config_get("save").get("save"))
    except ResponseError:
        return True


def check_runners(redis_url: str) -> list[DeploymentFinding]:
    """Check that workers and a scheduler have reported a moment ago, and that the queue moves."""
    try:
        with shared.connect(redis_url) as redis:
            found = read_reports(redis)
    except (RedisError, ValueError):
        return [skip_check("runners", "not checked without Redis", "Start Redis first.")]
    findings = []
    if not found.workers:
        advice = "Start one (python -m workers.worker), and read its log if it ends."
        findings.append(failure("runners", "no worker has sent a heartbeat: no match is played", advice))
    if found.queue is None:
        advice = "Start one (python -m workers.scheduler), and read its log if it ends."
        findings.append(failure("runners", "no scheduler watches the queue: no tournament advances", advice))
    elif found.queue.stalled_s is not None:
        waited = f"due work has waited for {found.queue.stalled_s} s although a runner could claim it"
        findings.append(failure("runners", waited, "Read the logs of the workers."))
    for reason in found.shortages:
        advice = "Raise the limit, or lower REFEREE_RUNNER_SLOTS."
        findings.append(warning("runners", f"a worker lacks resources: {reason}", advice))
    return findings or [ok("runners", f"{found.workers} workers and a scheduler are alive")]


def check_clocks(
    database: Database, redis_url: str | None, *, date_ahead_s: float | None = None
) -> list[DeploymentFinding]:
    """Compare the clock of this host with those of the database server, of Redis, and of the API (``date_ahead_s``)."""
    clocks = {} if date_ahead_s is None else {"the API": date_ahead_s}
    if not database.is_sqlite:
        try:
            with database.read() as session:
                began = time.time()
                moment = session.scalar(text("SELECT extract(epoch FROM clock_timestamp())"))
                clocks["PostgreSQL"] = float(moment or 0) - (began + time.time()) / 2
        except (SQLAlchemyError, RefereeError):
            pass  # another check reports it
    if redis_url is not None:
        try:
            with shared.connect(redis_url) as redis:
                began = time.time()
                seconds, microseconds = redis.time()
                clocks["Redis"] = seconds + microseconds / 1e6 - (began + time.time()) / 2
        except (RedisError, ValueError):
            pass  # another check reports it
    return judge_clocks(clocks)


def judge_clocks(clocks: dict[str, float]) -> list[DeploymentFinding]:
    """Return a finding for each clock that differs. The values are by how many seconds they are ahead of this host."""
    if not clocks:
        return [ok("clocks", "all processes use the clock of this host")]
    findings = []
    for name, ahead_s in clocks.items():
        if abs(ahead_s) > CLOCK_WARNING_S:
            found = f"the clock of {name} is {abs(ahead_s):.0f} s {'ahead of' if ahead_s > 0 else 'behind'} this host"
            advice = "Synchronise the clocks (chrony, systemd-timesyncd): bots refuse signatures with a wrong time."
            make = failure if abs(ahead_s) > CLOCK_FAILURE_S else warning
            findings.append(make("clocks", found, advice))
    most = max(abs(ahead_s) for ahead_s in clocks.values())
    return findings or [ok("clocks", f"{' and '.join(clocks)} differ from this host by at most {most:.1f} s")]


def check_backups(folder: Path | None, find_newest: NewestBackup, *, now: datetime | None = None) -> DeploymentFinding:
    """Check the age of the newest backup in a folder."""
    if folder is None:
        return skip_check("backups", "not checked", "Pass the folder of your backups with --backups.")
    newest = find_newest(folder)
    if newest is None:
        return failure("backups", f"{folder} contains no backup", "Make one: referee admin backup FILE.")
    path, made_at = newest
    age_s = ((now or datetime.now(UTC)) - made_at).total_seconds()
    if age_s > BACKUP_OLD_S:
        found = f"the newest backup, {path.name}, is {age_s / 86_400:.0f} days old"
        return warning("backups", found, "Make backups regularly: referee admin backup FILE.")
    return ok("backups", f"the newest backup, {path.name}, is {age_s / 3600:.0f} hours old")


def _first_line(error: Exception) -> str:
    return (
        str(getattr(error, "orig", error)).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
    )
