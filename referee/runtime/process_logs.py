"""Run the process that writes the logs of the others (``log_writer``), and give each of them a pipe to it."""

import fcntl
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from os import close, pipe
from pathlib import Path
from typing import Final

from referee.runtime.log_writer import LOG_LIMIT_BYTES, lock_folder

PIPE_BYTES: Final = 1 << 20  # what fits in a pipe while the writer is restarted
_F_SETPIPE_SZ: Final = 1031  # of fcntl; Linux only
SETTLE_S: Final = 1.0
STOP_S: Final = 5.0
POLL_S: Final = 0.005


class ProcessLogs:
    """Hold both ends of a pipe for each process, so that no output is lost if the writer dies and is restarted."""

    def __init__(self, folder: Path, names: Sequence[str], *, limit: int = LOG_LIMIT_BYTES) -> None:
        self._folder = folder
        self._limit = limit
        self._pipes = {name: pipe() for name in names}
        self._process: subprocess.Popen[bytes] | None = None
        for _, end in self._pipes.values():
            with suppress(OSError):  # the pipes are smaller then
                fcntl.fcntl(end, _F_SETPIPE_SZ, PIPE_BYTES)

    def output(self, name: str) -> int:
        """Return the file descriptor for the output of a process."""
        return self._pipes[name][1]

    def watch(self) -> None:
        """Start the writer unless it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        pipes = [f"{reading}={name}" for name, (reading, _) in self._pipes.items()]
        command = [sys.executable, "-P", "-m", "referee.runtime.log_writer", str(self._folder), str(self._limit)]
        self._process = subprocess.Popen(
            [*command, *pipes],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[reading for reading, _ in self._pipes.values()],
            start_new_session=True,  # it goes on while the terminal suspends this process
        )

    def settle(self) -> None:
        """Wait until all output so far is in the files, but not for long if nobody writes it."""
        end = time.monotonic() + SETTLE_S
        while any(self._count_unread(reading) for reading, _ in self._pipes.values()) and time.monotonic() < end:
            time.sleep(POLL_S)
        with lock_folder(self._folder):
            pass

    def stop(self) -> None:
        """Close the pipes and wait until the writer has written the rest. Call this once the processes have ended."""
        for ends in self._pipes.values():
            for end in ends:
                close(end)
        if self._process is not None:
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:  # a process that was not ours to stop has kept a pipe
                self._process.kill()
                self._process.wait()

    @staticmethod
    def _count_unread(reading: int) -> int:
        count: int = struct.unpack("i", fcntl.ioctl(reading, termios.FIONREAD, bytes(4)))[0]
        return count
