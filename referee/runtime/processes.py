"""Start, watch, restart and stop child processes, and wait for the signals that concern them."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

from referee.runtime import parent_death
from referee.runtime.forked_process import ForkedProcess

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STABLE_AFTER_S = 30.0  # a child that ran for longer counts as recovered
MAX_PAUSE_S = 30.0
TAIL_BYTES = 8192  # most of a log that ``Child.tail`` reads


@dataclass(slots=True)
class Child:
    """Represent a child process to keep running.

    It has its own session, so that Ctrl-C in the terminal does not reach it. A ``forked`` one shares what this process
    has imported; its ``command`` begins with "module:function" instead of a program.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    log: Path
    pass_fds: Sequence[int] = ()
    output: int | None = None  # the pipe of ``ProcessLogs``; without one, the process writes to ``log`` itself
    forked: bool = False
    process: subprocess.Popen[bytes] | ForkedProcess | None = field(default=None, init=False)
    deaths: int = field(default=0, init=False)  # consecutive
    exits: int = field(default=0, init=False)  # all that were not requested
    due: float = field(default=0.0, init=False)  # monotonic time of the next start
    _started: float = field(default=0.0, init=False)
    _log_start: tuple[int, int] = field(default=(0, 0), init=False)  # inode and size of the log at the start

    def start(self) -> None:
        """Start the process. The kernel sends it SIGTERM if this process dies."""
        self._log_start = self._find_log_end()
        with self._open_output() as output:
            self.process = self._fork(output) if self.forked else self._execute(output)
        self._started = time.monotonic()

    def _fork(self, output: int) -> ForkedProcess:
        return ForkedProcess(
            self.name,
            self.command,
            environment=self.environment,
            folder=self.folder,
            output=output,
            pass_fds=self.pass_fds,
        )

    def _execute(self, output: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=dict(self.environment),
            cwd=self.folder,
            pass_fds=self.pass_fds,
            start_new_session=True,
            preexec_fn=parent_death.make_preexec(signal.SIGTERM),  # called from the main thread, as it requires
        )

    @contextmanager
    def _open_output(self) -> Iterator[int]:
        if self.output is not None:
            yield self.output
            return
        with self.log.open("ab") as log:
            yield log.fileno()

    def has_died(self) -> bool:
        """Return whether the process has died since the last call. If so, schedule its restart in ``due``."""
        if self.process is None or self.process.poll() is None:
            return False
        lived_s = time.monotonic() - self._started
        self.exits += 1
        self.deaths = 1 if lived_s > STABLE_AFTER_S else self.deaths + 1
        self.due = time.monotonic() + min(MAX_PAUSE_S, 0.25 * 2**self.deaths)
        self.process = None
        return True

    def tail(self, lines: int = 12) -> str:
        """Return the last ``lines`` lines that the process wrote, or an empty string if the log cannot be read.

        Leave out what an earlier process wrote into the same file.
        """
        inode, size = self._log_start
        try:
            with self.log.open("rb") as log:
                found = os.fstat(log.fileno())
                is_same = found.st_ino == inode and found.st_size >= size  # neither rotated nor truncated since
                start = size if is_same else 0
                log.seek(max(start, found.st_size - TAIL_BYTES))
                return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def _find_log_end(self) -> tuple[int, int]:
        try:
            found = self.log.stat()
        except OSError:
            return 0, 0
        return found.st_ino, found.st_size


def stop(children: Iterable[Child], patience_s: float, signals: "Signals") -> list[str]:
    """Send SIGTERM to all children and wait for their exit. Return the names of those that had to be killed.

    Children are killed after ``patience_s`` seconds, or at a second stop signal to this process.
    """
    live = [child for child in children if child.process is not None]
    for child in live:
        _send(child, signal.SIGTERM)
    end = time.monotonic() + patience_s
    while any(_alive(child) for child in live) and time.monotonic() < end and signals.stop_requests < 2:
        signals.wait(0.2)
    killed = [child for child in live if _alive(child)]
    for child in killed:
        _send(child, signal.SIGKILL)
    for child in live:
        if child.process is not None:
            child.process.wait()
            child.process = None
    return [child.name for child in killed]


def _alive(child: Child) -> bool:
    return child.process is not None and child.process.poll() is None


def _send(child: Child, number: signal.Signals) -> None:
    if child.process is not None:
        with suppress(ProcessLookupError):
            child.process.send_signal(number)


class Signals:
    """Wait for stop signals and for the death of a child."""

    def __init__(self) -> None:
        self.stop_requests = 0
        self._read = self._write = -1
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in STOP_SIGNALS:
            if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                continue  # the process was started to outlive its terminal
            self._before[number] = signal.signal(number, self._stop)
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, _nothing)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # values that signal.signal returned
        os.close(self._read)
        os.close(self._write)

    def wait(self, seconds: float) -> None:
        """Wait for the next signal, but at most ``seconds``."""
        select.select([self._read], [], [], max(0.0, seconds))
        with suppress(BlockingIOError):
            os.read(self._read, 4096)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stop_requests += 1


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Do nothing. Without this handler, the signal would not end the wait."""
