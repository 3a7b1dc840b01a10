"""Write the output of processes to files that rotate by size.

``python -m referee.runtime.log_writer FOLDER LIMIT FD=NAME…`` reads what arrives at these file descriptors.

A process of its own reads the output from pipes, so that rotating needs no help of the processes that write, and so
that nothing blocks while the terminal of the supervisor is suspended. It ends when all pipes are closed, so it also
writes the last lines of processes that outlive their supervisor for a moment.
"""

import fcntl
import json
import os
import select
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

LOG_LIMIT_BYTES: Final = 8 << 20  # of a file
EARLIER_FILES: Final = 2  # kept beside the current one, as NAME.log.1 and NAME.log.2
PIECE_BYTES: Final = 65_536
LONGEST_LINE: Final = 1 << 20  # bytes; only a longer line is divided between two files


class LogFile:
    """Append to one file and rotate it at the end of a line. Without room on the disk, count what is lost."""

    def __init__(self, path: Path, *, limit: int) -> None:
        self.path = path
        self._limit = limit
        self._fd: int | None = None
        self._size = 0
        self._lost_bytes = 0
        self._is_failing = False
        self._is_line_open = False  # the last byte written was not the end of a line

    def create(self) -> None:
        """Create the file, if that is possible, so that people find it before the first line."""
        with suppress(OSError):
            self._open()

    def write(self, piece: bytes) -> OSError | None:
        """Append a piece. If that fails, lose it, and return the error if the piece before could be written."""
        was_failing, left = self._is_failing, len(piece)
        try:
            for part in self._split(piece):
                self._append(part)
                left -= len(part)
        except OSError as error:
            self._lost_bytes += left
            self._is_failing = True
            return None if was_failing else error
        self._is_failing = False
        return None

    def _split(self, piece: bytes) -> Iterator[bytes]:
        """Yield the parts of a piece for one file after the other, and rotate in between."""
        while piece:
            self._open()
            room = self._limit - self._size
            end = len(piece) if len(piece) <= room else piece.find(b"\n", max(0, room)) + 1
            if not end and self._size + len(piece) > self._limit + LONGEST_LINE:
                end = len(piece)
                yield piece
                self._rotate()
                return
            yield piece[: end or len(piece)]
            piece = piece[end or len(piece) :]
            if end and self._size >= self._limit:
                self._rotate()

    def _open(self) -> None:
        with suppress(FileNotFoundError):
            if self._fd is not None and os.path.samestat(os.fstat(self._fd), os.stat(self.path)):
                return
        self._close()  # somebody has deleted or renamed it
        self._fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._size, self._is_line_open = os.fstat(self._fd).st_size, False
        if self._size >= self._limit:
            self._rotate()
            self._open()

    def _append(self, part: bytes) -> None:
        assert self._fd is not None
        if self._lost_bytes:
            told = {"event": "log_output_lost", "bytes": self._lost_bytes}
            part = b"\n" * self._is_line_open + json.dumps(told).encode() + b"\n" + part
        left = part
        try:
            while left:
                left = left[os.write(self._fd, left) :]
        finally:
            written = part[: len(part) - len(left)]
            self._size += len(written)
            if written:
                self._is_line_open = not written.endswith(b"\n")
        self._lost_bytes = 0

    def _rotate(self) -> None:
        """Rename the file and the earlier ones. The oldest is replaced."""
        self._close()
        names = [self.path, *(self.path.with_name(f"{self.path.name}.{n}") for n in range(1, EARLIER_FILES + 1))]
        for earlier, name in zip(reversed(names[1:]), reversed(names[:-1]), strict=True):
            with suppress(FileNotFoundError):
                name.replace(earlier)
        self._size = 0

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep the lock of the folder: no output is then on its way between a pipe and its file."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:  # the folder was deleted: nothing is left to lock
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def copy_output(folder: Path, pipes: dict[int, str], *, limit: int) -> None:
    """Write what arrives in the pipes to the files of these names until all pipes are closed."""
    files = {pipe: LogFile(folder / f"{name}.log", limit=limit) for pipe, name in pipes.items()}
    ready = select.poll()
    for pipe, file in files.items():
        file.create()
        ready.register(pipe, select.POLLIN)
    while files:
        for pipe, _ in ready.poll():
            with lock_folder(folder):
                piece = os.read(pipe, PIECE_BYTES)
                error = files[pipe].write(piece) if piece else None
            if error is not None:
                _say(f"{files[pipe].path} cannot be written ({error.strerror}); its lines are lost until it can.")
            if not piece:
                ready.unregister(pipe)
                del files[pipe]


def _say(text: str) -> None:
    with suppress(OSError, ValueError):  # the terminal is closed
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def main(arguments: Sequence[str]) -> None:
    """Run until all pipes are closed, whatever signal arrives."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    folder, limit, *given = arguments
    pairs = (pair.partition("=") for pair in given)
    copy_output(Path(folder), {int(pipe): name for pipe, _, name in pairs}, limit=int(limit))


if __name__ == "__main__":
    main(sys.argv[1:])
