"""Measure the use of the disk once a day, and derive its growth. Requests read what the scheduler has stored."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import delete, func, select, text
from sqlalchemy.orm import Session

from referee import plugs
from referee.db.engine import current_time, get_database
from referee.db.idempotency import Idempotency
from referee.matches.tables import Fault, LogRow, MatchLog
from referee_extras.retention.tables import DiskUse

KEPT_DAYS: Final = 400
GROWTH_DAYS: Final = 7  # from which growth is derived
_CONTENT: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {  # what counts rows, and the columns that take the space
    "logs": (MatchLog.match_id, (MatchLog.gzip_log, MatchLog.reveal_line)),
    "logs_of_running_matches": (LogRow.match_id, (LogRow.line,)),
    "fault_reports": (Fault.id, (Fault.request, Fault.reply)),
    "responses": (Idempotency.key, (Idempotency.body,)),
}
_FILES: Final = {  # patterns of files in the data directory
    "process_logs": ("logs/*",),
    "backups": ("*.tar",),
    "replaced_databases": ("referee.db.replaced-*",),
    "queue": ("valkey-server/**/*", "redis-server/**/*"),
}


@dataclass(frozen=True, slots=True)
class Growth:
    """Hold by how many bytes a day the use grew, and for how many days the free space lasts; None if not known."""

    bytes_per_day: int | None
    days_left: int | None


def measure(session: Session, data_dir: Path) -> DiskUse:
    """Return what is used now. Its parts add up to the database and the files of the data directory.

    This reads the sizes of all logs, so only the scheduler does it.
    """
    parts: dict[str, dict[str, int | None]] = {}
    of_extras = (plugs.load(extra.disk_use) for extra in plugs.extras() if extra.disk_use is not None)
    content = {**_CONTENT, **{name: part for described in of_extras for name, part in described.items()}}
    for name, (row_id, columns) in content.items():
        sizes = [func.coalesce(func.sum(func.length(column)), 0) for column in columns]
        rows, *sums = session.execute(select(func.count(row_id), *sizes)).one()
        parts[name] = {"rows": int(rows), "bytes": sum(map(int, sums))}
    database_bytes = _database_bytes(session)
    counted = sum(part["bytes"] or 0 for part in parts.values())
    parts["other_tables_and_free_pages"] = {"rows": None, "bytes": max(0, database_bytes - counted)}
    for name, patterns in _FILES.items():
        parts[name] = {"rows": None, "bytes": _sum_sizes(file for each in patterns for file in data_dir.glob(each))}
    moment = current_time(session)
    return DiskUse(
        day=moment.date(),
        measured_at=moment,
        database_bytes=database_bytes,
        free_bytes=shutil.disk_usage(_nearest_folder(data_dir)).free,
        parts=parts,
    )


def store(session: Session, measured: DiskUse) -> None:
    """Store a measurement in place of an earlier one of the day. Delete those older than ``KEPT_DAYS``."""
    session.execute(delete(DiskUse).where(DiskUse.day < measured.day - timedelta(days=KEPT_DAYS)))
    session.merge(measured)


def find_latest(session: Session) -> DiskUse | None:
    """Return the newest measurement, or None if there is none."""
    return session.scalar(select(DiskUse).order_by(DiskUse.day.desc()).limit(1))


def find_growth(session: Session, latest: DiskUse) -> Growth:
    """Return the growth since the first measurement in the ``GROWTH_DAYS`` before the latest."""
    since = latest.day - timedelta(days=GROWTH_DAYS)
    query = select(DiskUse).where(DiskUse.day >= since, DiskUse.day < latest.day).order_by(DiskUse.day).limit(1)
    first = session.scalar(query)
    if first is None:
        return Growth(None, None)
    days = (latest.measured_at - first.measured_at) / timedelta(days=1)
    per_day = round((_total(latest) - _total(first)) / days) if days > 0 else 0
    return Growth(per_day, latest.free_bytes // per_day if per_day > 0 else None)


def _total(use: DiskUse) -> int:
    return sum(part["bytes"] for part in use.parts.values())


def _database_bytes(session: Session) -> int:
    if get_database(session).is_sqlite:
        query = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    else:
        query = "SELECT pg_database_size(current_database())"
    return int(session.execute(text(query)).scalar_one())


def _nearest_folder(path: Path) -> Path:
    """Return ``path``, or the first of its parents that exists: with PostgreSQL, there may be no data directory."""
    return next(folder for folder in (path, *path.parents) if folder.is_dir())


def _sum_sizes(files: Iterable[Path]) -> int:
    """Return the size of the files. One that was removed meanwhile has none."""
    total = 0
    for file in files:
        try:
            total += file.stat().st_size if file.is_file() else 0
        except FileNotFoundError:
            continue
    return total
