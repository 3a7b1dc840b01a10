"""Write logs to a folder before they are deleted, and read them from it.

An archive has a folder for each day on which matches ended. It contains one compressed log for each match, as it can be
downloaded, and ``index.ndjson`` with the SHA-256 of each. A file is complete before the index names it. Several
processes, and several services, may write to an archive: a lock of each day admits one at a time.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from referee.errors import BadLog, RefereeError
from referee.private_files import DRAFT, sync_to_disk, write_private_file

INDEX: Final = "index.ndjson"
LOCK: Final = ".lock"  # in the folder of a day


class ArchiveError(RefereeError):
    """Report that an archive cannot be written or read."""


@dataclass(frozen=True, slots=True)
class ArchivedLog:
    """Describe a log of an archive: its match, its file and the SHA-256 of the file."""

    match: str
    file: str
    sha256: str
    bytes: int
    ended_at: str


class LogArchive:
    """Write and read the logs in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, logs: Sequence[tuple[str, datetime, bytes]]) -> None:
        """Write logs, each with its match and the end of the match, to the disk. Raise ``ArchiveError`` on failure.

        When this returns, files and index have reached the disk. An index that is damaged is a failure, too.
        """
        by_day: dict[str, list[tuple[str, datetime, bytes]]] = {}
        for log in logs:
            by_day.setdefault(f"{log[1]:%Y-%m-%d}", []).append(log)
        try:
            for day, ended in sorted(by_day.items()):
                self._write_day(self.folder / day, ended)
        except OSError as error:
            raise ArchiveError(
                f"The archive {self.folder} cannot be written ({error.strerror or error}), so nothing more is deleted. "
                "Make room there, or choose another folder."
            ) from error

    def list_logs(self) -> Iterator[ArchivedLog]:
        """Yield the archived logs, the oldest day first. Raise ``ArchiveError`` if an index is damaged or missing."""
        if not self.folder.is_dir():
            raise ArchiveError(f"{self.folder} is not a folder, so it has no archive.")
        for index in sorted(self.folder.glob(f"*/{INDEX}")):
            yield from _read_index(index)

    def read(self, log: ArchivedLog) -> bytes:
        """Return the compressed log. Raise ``BadLog`` if it is missing or was changed."""
        path = self.folder / log.file
        try:
            if path.exists() and not path.is_file():
                raise BadLog(0, f"the archived log {log.file} is not a file")
            content = path.read_bytes()
        except OSError as error:
            raise BadLog(0, f"the archived log {log.file} cannot be read: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != log.sha256:
            raise BadLog(0, f"the archived log {log.file} does not have the checksum of the index")
        return content

    def _write_day(self, folder: Path, logs: Sequence[tuple[str, datetime, bytes]]) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _lock(folder):
            for part in folder.glob(f"*{DRAFT}"):  # of a process that was killed
                part.unlink()
            known = list(_read_index(folder / INDEX)) if (folder / INDEX).exists() else []
            added = [self._write_log(folder, *log) for log in logs]
            sync_to_disk(folder)
            lines = dict.fromkeys(json.dumps(asdict(log)) for log in [*known, *added])
            write_private_file(folder / INDEX, "".join(f"{line}\n" for line in lines).encode())
            sync_to_disk(folder)
        sync_to_disk(self.folder)

    def _write_log(self, folder: Path, match_id: str, ended_at: datetime, content: bytes) -> ArchivedLog:
        name = f"{match_id}.ndjson.gz"
        write_private_file(folder / name, content)
        sha256 = hashlib.sha256(content).hexdigest()
        return ArchivedLog(match_id, f"{folder.name}/{name}", sha256, len(content), ended_at.isoformat())


def _read_index(index: Path) -> Iterator[ArchivedLog]:
    """Yield the logs of a day. Raise ``ArchiveError`` if a line is damaged or names a file of another match."""
    try:
        lines = index.read_text().splitlines()
    except (OSError, ValueError) as error:
        raise ArchiveError(f"The index {index} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        try:
            log = ArchivedLog(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise ArchiveError(f"Line {number} of {index} cannot be read: {error}") from error
        if log.file != f"{index.parent.name}/{log.match}.ndjson.gz" or "/" in log.match:
            raise ArchiveError(f"Line {number} of {index} names another file than that of its match.")
        yield log


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Wait until no other process writes to the folder, and hold its lock while the block runs."""
    with os.fdopen(os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600), "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
