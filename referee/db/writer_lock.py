"""Admit one writer to a SQLite database at a time, on this host and in turn."""

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from referee.errors import Unavailable


class WriterLock:
    """Admit one writer of this host at a time: SQLite's own busy wait is unfair and can starve writers for seconds.

    Call an instance to hold the lock for a block. Raise ``Unavailable`` if it is not free within ``wait_s`` seconds, or
    if its file cannot be opened.
    """

    def __init__(self, path: Path, wait_s: float) -> None:
        self._path = path
        self._wait_s = wait_s
        self._threads = threading.Lock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        deadline = time.monotonic() + self._wait_s
        if not self._threads.acquire(timeout=self._wait_s):
            raise Unavailable(f"the write lock was not free within {self._wait_s} s")
        try:
            self._lock(deadline)
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)
        finally:
            self._threads.release()

    @cached_property
    def _file(self) -> int:
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:  # a file system that became read-only, for example
            raise Unavailable(
                f"{self._path} cannot be used: {error.strerror}. Choose another path, or run the command as a user who "
                "has access to this one."
            ) from error

    def _lock(self, deadline: float) -> None:
        pause_s = 0.0005
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise Unavailable(f"the write lock was not free within {self._wait_s} s") from None
                time.sleep(pause_s)
                pause_s = min(pause_s * 2, 0.005)
            else:
                return
