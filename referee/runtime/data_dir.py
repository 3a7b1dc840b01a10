"""Manage the data directory of a service: its owner process, its logs, its socket and its permissions.

``referee.db`` manages the database in the directory, and ``referee.settings`` the master key.
"""

import fcntl
import hashlib
import json
import os
import stat
import tempfile
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path

from referee.errors import RefereeError
from referee.runtime.log_writer import LOG_LIMIT_BYTES

# These are the names of a service's files (prefixes of names) and folders in its data directory.
OUR_FILES = ("referee.db", "master.key", "up.lock", "redis.sock")
OUR_FOLDERS = ("claims", "logs", "redis-server", "valkey-server")
SOCKET_PATH_LIMIT = 100  # bytes; the limit of the kernel is 107


class InUse(RefereeError):
    """Signal that a running ``referee up`` owns the data directory."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Describe the process that owns a directory, and the service's URL, which is empty until the service is ready."""

    pid: int
    url: str

    def __str__(self) -> str:
        return f" (process {self.pid}{', ' + self.url if self.url else ''})" if self.pid else ""


@dataclass(slots=True)
class DataDir:
    """Represent a data directory. Between ``acquire`` and ``release``, no other process can own it."""

    path: Path
    _lock: TextIOWrapper | None = field(default=None, init=False)

    def acquire(self) -> None:
        """Lock the directory until ``release`` or until this process exits.

        Raise ``InUse`` if another process owns it.
        """
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (self.path / "up.lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = _parse_owner(lock.read())
            lock.close()
            raise InUse(
                f"{self.path} is in use by another `referee up`{owner}. Stop it or pass another --data."
            ) from None
        self._lock = lock
        self._make_files_private()
        self.write_owner("")

    def write_owner(self, url: str) -> None:
        """Write our process id and URL into the lock file, for the error message of a second ``referee up``."""
        assert self._lock is not None, "only an owner writes its URL"
        self._lock.truncate(0)
        self._lock.write(json.dumps({"pid": os.getpid(), "url": url}))
        self._lock.flush()

    def release(self) -> None:
        if self._lock is not None:
            self._lock.truncate(0)
            self._lock.close()
            self._lock = None

    def log(self, name: str) -> Path:
        """Return the path of a child process's log file. Rotate a long log, keeping one earlier file.

        Raise ``RefereeError`` if the folder of logs cannot be used.
        """
        path = self.path / "logs" / f"{name}.log"
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise RefereeError(
                f"{path.parent} cannot be used for the logs of the processes: {error.strerror}. Make it a directory "
                "that this user can write to, or pass another --data."
            ) from error
        if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
            path.replace(path.with_suffix(".log.1"))
        return path

    def socket(self) -> Path:
        """Return the path of the embedded Redis's socket.

        It is in a temporary directory if the path in this one would be too long.
        """
        own = self.path / "redis.sock"
        if len(os.fsencode(own)) <= SOCKET_PATH_LIMIT:
            return own
        name = f"referee-{os.getuid()}-{hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]}"
        short = Path(tempfile.gettempdir()) / name
        if len(os.fsencode(short)) > SOCKET_PATH_LIMIT - 11:
            short = Path("/tmp") / name  # noqa: S108  # made private below
        _make_private(short)
        return short / "redis.sock"

    def _make_files_private(self) -> None:
        """Remove other users' permissions from our files, and from the directory if it contains nothing else.

        Do not follow links, because they may lead to files of other users.
        """
        found = set(self.path.iterdir())
        ours = {path for path in found if path.name.startswith(OUR_FILES) or path.name in OUR_FOLDERS}
        for path in ours:
            _remove_other_permissions(path)
            if path.is_symlink():
                continue
            for folder, folders, files in os.walk(path):
                for name in (*folders, *files):
                    _remove_other_permissions(Path(folder) / name)
        if found == ours:
            _remove_other_permissions(self.path)

    def owner(self) -> Owner | None:
        """Return the process that owns the directory, or None if no process does."""
        try:
            with (self.path / "up.lock").open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return None
        except BlockingIOError:
            return _parse_owner((self.path / "up.lock").read_text())
        return None

    def is_owner_older_than(self, path: Path) -> bool:
        """Return whether a process owns the directory that became its owner before ``path`` was changed."""
        return self.owner() is not None and (self.path / "up.lock").stat().st_mtime_ns <= path.stat().st_mtime_ns


def _remove_other_permissions(path: Path) -> None:
    found = path.lstat()
    if found.st_uid == os.geteuid() and found.st_mode & 0o077 and not stat.S_ISLNK(found.st_mode):
        path.chmod(stat.S_IMODE(found.st_mode) & 0o700)


def _make_private(path: Path) -> None:
    """Create a directory that only this user can enter. Raise ``RefereeError`` if it exists and is not private."""
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise RefereeError(f"{path} is not a private directory of this user. Remove it or pass a shorter --data.")


def _parse_owner(text: str) -> Owner:
    """Return the owner named in the text of a lock file, or one with process id 0 if it has not been written yet."""
    try:
        written = json.loads(text)
        return Owner(int(written["pid"]), str(written["url"]))
    except (ValueError, KeyError, TypeError):
        return Owner(0, "")
