"""Write logs to a folder before they are deleted, and read them from it.

An archive has a folder for each day on which matches ended. It contains one compressed log for each match, as it can be
downloaded, and ``index.ndjson`` with the SHA-256 of each. A file is complete before the index names it.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from referee.errors import BadLog, RefereeError

INDEX: Final = "index.ndjson"


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

        When this returns, files and index have reached the disk.
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
            for number, line in enumerate(index.read_text().splitlines(), 1):
                try:
                    yield ArchivedLog(**json.loads(line))
                except (ValueError, TypeError) as error:
                    raise ArchiveError(f"Line {number} of {index} cannot be read: {error}") from error

    def read(self, log: ArchivedLog) -> bytes:
        """Return the compressed log. Raise ``BadLog`` if it is missing or was changed."""
        try:
            content = (self.folder / log.file).read_bytes()
        except OSError as error:
            raise BadLog(0, f"the archived log {log.file} cannot be read: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != log.sha256:
            raise BadLog(0, f"the archived log {log.file} does not have the checksum of the index")
        return content

    def _write_day(self, folder: Path, logs: Sequence[tuple[str, datetime, bytes]]) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lines = []
        for match_id, ended_at, content in logs:
            name = f"{match_id}.ndjson.gz"
            _write_file(folder / name, content)
            sha256 = hashlib.sha256(content).hexdigest()
            archived = ArchivedLog(match_id, f"{folder.name}/{name}", sha256, len(content), ended_at.isoformat())
            lines.append(json.dumps(asdict(archived)))
        _sync_folder(folder)
        index = folder / INDEX
        before = index.read_text() if index.exists() else ""
        known = before.splitlines()
        _write_file(index, "".join(f"{line}\n" for line in [*known, *(x for x in lines if x not in known)]).encode())
        _sync_folder(folder)
        _sync_folder(self.folder)


def _write_file(path: Path, content: bytes) -> None:
    """Write a file that appears once it is complete and on the disk."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
