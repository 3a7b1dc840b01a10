"""The directory a service lives in: who owns it now, where its logs and its socket are.

The record and the keys in it belong to the store and the settings.
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

# What a service keeps in its directory: files, by the prefixes of their names, and folders.
OUR_FILES = ("referee.db", "master.key", "up.lock", "redis.sock")
OUR_FOLDERS = ("logs", "redis-server", "valkey-server")
SOCKET_PATH_LIMIT = 100  # bytes; the kernel's address of a socket holds 107
LOG_LIMIT_BYTES = 8 << 20  # a longer log is put aside at the next start


class InUse(RefereeError):
    """A live ``referee up`` owns the data directory."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that owns a directory, and where it answers once it does."""

    pid: int
    url: str

    def __str__(self) -> str:
        return f" (process {self.pid}{', ' + self.url if self.url else ''})" if self.pid else ""


@dataclass(slots=True)
class DataDir:
    """A data directory; between ``own`` and ``release`` nobody else can own it."""

    path: Path
    _lock: TextIOWrapper | None = field(default=None, init=False)

    def own(self) -> None:
        """Takes the directory or raises ``InUse``. The kernel gives it back when this process ends."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (self.path / "up.lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = _parse_owner(lock.read())
            lock.close()
            raise InUse(
                f"{self.path} is in use by another `referee up`{owner}; stop that one or choose another --data"
            ) from None
        self._lock = lock
        self._close_to_others()
        self.announce("")

    def announce(self, url: str) -> None:
        """Writes down who owns the directory and where it answers, for whoever is refused."""
        assert self._lock is not None, "only an owner announces itself"
        self._lock.truncate(0)
        self._lock.write(json.dumps({"pid": os.getpid(), "url": url}))
        self._lock.flush()

    def release(self) -> None:
        if self._lock is not None:
            self._lock.truncate(0)
            self._lock.close()
            self._lock = None

    def log(self, name: str) -> Path:
        """The log of one child process; a long one starts anew, its predecessor is kept."""
        path = self.path / "logs" / f"{name}.log"
        path.parent.mkdir(exist_ok=True)
        if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
            path.replace(path.with_suffix(".log.1"))
        return path

    def socket(self) -> Path:
        """Where the embedded Redis listens: in the directory, or in a short private place when that is too deep."""
        own = self.path / "redis.sock"
        if len(os.fsencode(own)) <= SOCKET_PATH_LIMIT:
            return own
        name = f"referee-{os.getuid()}-{hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]}"
        short = Path(tempfile.gettempdir()) / name
        if len(os.fsencode(short)) > SOCKET_PATH_LIMIT - 11:
            short = Path("/tmp") / name  # noqa: S108  # made private and checked below
        _make_private(short)
        return short / "redis.sock"

    def _close_to_others(self) -> None:
        """Remove other users' permissions from our files, and from the directory if it contains nothing else.

        Do not follow links: they may lead to files of others.
        """
        found = set(self.path.iterdir())
        ours = {path for path in found if path.name.startswith(OUR_FILES) or path.name in OUR_FOLDERS}
        for path in ours:
            _close(path)
            if path.is_symlink():
                continue
            for folder, folders, files in os.walk(path):
                for name in (*folders, *files):
                    _close(Path(folder) / name)
        if found == ours:
            _close(self.path)

    def owner(self) -> Owner | None:
        """Who owns the directory now."""
        try:
            with (self.path / "up.lock").open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return None
        except BlockingIOError:
            return _parse_owner((self.path / "up.lock").read_text())
        return None


def _close(path: Path) -> None:
    found = path.lstat()
    if found.st_uid == os.geteuid() and found.st_mode & 0o077 and not stat.S_ISLNK(found.st_mode):
        path.chmod(stat.S_IMODE(found.st_mode) & 0o700)


def _make_private(path: Path) -> None:
    """Makes a directory that only we can enter; refuses one that somebody else put there."""
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise RefereeError(f"{path} is not a private directory of ours; remove it or choose a shorter --data")


def _parse_owner(text: str) -> Owner:
    """What an owner wrote down; nothing while it is still about to."""
    try:
        written = json.loads(text)
        return Owner(int(written["pid"]), str(written["url"]))
    except (ValueError, KeyError, TypeError):
        return Owner(0, "")
