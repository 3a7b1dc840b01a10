"""Start bots that are given as files, wait until they listen on their ports, and stop them after play."""

import errno
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any, Final

from referee.errors import RefereeError
from referee.local.matches import LocalEntrant
from referee.protocol.signing import bot_secret
from referee.runtime import parent_death
from referee.runtime.output_tail import OutputTail

Handler = Callable[[int, FrameType | None], Any] | signal.Handlers
Say = Callable[[str], None]  # shows a sentence to the person who waits

LOOPBACK: Final = "127.0.0.1"  # where bots listen, unless something else is said
START_TIMEOUT_S: Final = 60.0  # a compiler may have to run first
SLOW_START_S: Final = 3.0  # after which commands say what they wait for
POLL_S: Final = 0.05
STOP_TIMEOUT_S: Final = 2.0
OUTPUT_TIMEOUT_S: Final = 1.0  # long enough to read all output of a bot, unless it never stops writing
TAIL_LINES: Final = 12
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)  # not SIGINT, which raises KeyboardInterrupt anyway
PRIVATE: Final = ("REFEREE_", "DATABASE_URL", "REDIS_URL")  # environment variables that bots must not see
HINTS: Final = {
    errno.ENOENT: ". Check whether its first line names a missing program or ends with a carriage return.",
    errno.ENOEXEC: ". Check whether its first line names an interpreter, like #!/bin/sh.",
}
PORT_TAKEN: Final = "Port {} is taken by another program. Stop it, or pass another port."
PRINTED_URL: Final = re.compile(rb"http://(?:127\.0\.0\.1|localhost):(\d{1,5})\b")
RUNNERS: Final = {  # command that runs the file and name of the language, by file extension
    ".py": ((sys.executable,), "Python"),
    ".js": (("node",), "Node.js"),
    ".mjs": (("node",), "Node.js"),
    ".cjs": (("node",), "Node.js"),
    ".go": (("go", "run"), "Go"),
}


class BotNotStarted(RefereeError):
    """Signal that a bot's program cannot be run, exits before it listens, or does not listen in time."""


@dataclass(slots=True)
class BotProcess:
    """Hold the process of a started bot and its output."""

    file: Path
    port: int
    process: subprocess.Popen[bytes]
    output: OutputTail = field(repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def tail(self) -> str:
        """Return the last lines that the bot wrote to standard output or standard error."""
        self.output.settle(OUTPUT_TIMEOUT_S)
        return self.output.lines(TAIL_LINES)

    def traceback(self) -> str:
        """Return the end of the last Python traceback that the bot wrote, or an empty string if there is none."""
        self.output.settle(OUTPUT_TIMEOUT_S)
        return self.output.traceback(TAIL_LINES)

    def listens(self) -> bool:
        """Return whether the bot's port, or one that it printed, accepts connections. Set ``port`` to that port.

        A printed port that another command has reserved is that of another bot.
        """
        printed = [int(port) for port in PRINTED_URL.findall(self.output.head)]
        for port in (self.port, *printed):
            if 0 < port < 65536 and is_open(port) and (port == self.port or not _is_reserved(port)):
                self.port = port
                return True
        return False

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the bot and its child processes."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def wait_until(self, moment: float) -> bool:
        """Wait until the bot exits, or until ``moment`` on the monotonic clock. Return whether it has exited."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, moment - time.monotonic()))
        return self.process.returncode is not None


@dataclass(frozen=True, slots=True)
class RunningBots:
    """Hold the entrants with the URLs to call, the secrets that sign the calls, and the started processes."""

    entrants: list[LocalEntrant]
    secrets: tuple[str, ...]
    processes: list[BotProcess]

    def exited_bots(self) -> list[BotProcess]:
        """Return the bots that have exited on their own."""
        return [bot for bot in self.processes if bot.process.poll() is not None]


def _say_nothing(_text: str) -> None:
    """Ignore the sentence."""


@contextmanager
def run_bots(
    entrants: Sequence[LocalEntrant], secrets: tuple[str, ...], say: Say = _say_nothing
) -> Iterator[RunningBots]:
    """Start each file among ``entrants`` once, and stop the bots after the block.

    A bot receives its port in ``$PORT`` and as its first argument, and a secret in ``$REFEREE_BOT_SECRET``. The secret
    is the first of ``secrets`` or, if there are none, a new one that signs all calls. Raise ``BotNotStarted`` if a bot
    cannot be started. After ``SLOW_START_S``, ``say`` receives a sentence about it.
    """
    files = list(dict.fromkeys(entrant.file for entrant in entrants if entrant.file))
    if files and not secrets:
        secrets = (bot_secret(os.urandom(32), "referee play", 1),)
    with _stopped_after([]) as processes:
        for file, port in zip(files, _free_ports(len(files)), strict=True):
            processes.append(_start(file, port, secrets[0]))
        for process in processes:
            process.output.follow()  # starts threads, so all processes must have been forked before
        for process in processes:
            _wait_until_listening(process, say)
        urls = {process.file: process.url for process in processes}
        placed = [replace(entrant, url=urls[entrant.file]) if entrant.file else entrant for entrant in entrants]
        yield RunningBots(placed, secrets, processes)


@contextmanager
def host_bot(
    file: Path,
    port: int,
    secret: str = "",
    say: Say = _say_nothing,
    copy_to: int | None = None,
    *,
    host: str = LOOPBACK,
) -> Iterator[BotProcess]:
    """Start a bot on ``port``, which ``reserve_port`` gave, and stop it after the block.

    It gets ``secret`` in ``$REFEREE_BOT_SECRET``, if there is one, and ``host`` in ``$HOST``. ``copy_to`` is a file
    descriptor to which all its output is written. Raise ``BotNotStarted`` if the bot cannot be started.
    """
    if is_open(port):
        raise BotNotStarted(PORT_TAKEN.format(port))
    with _stopped_after([]) as processes:
        bot = _start(file, port, secret, copy_to, host)
        processes.append(bot)
        bot.output.follow()
        _wait_until_listening(bot, say)
        yield bot


@contextmanager
def reserve_port(*wanted: int) -> Iterator[int]:
    """Reserve the first of these ports (0: any free one) against other commands of this machine while the block runs.

    Skip ports that are in use. Raise ``BotNotStarted`` if none is left.
    """
    # Whether a port is open says nothing while a bot starts, so a lock says to whom it belongs.
    for port in chain.from_iterable(iter(lambda: _free_ports(1)[0], 0) if port == 0 else [port] for port in wanted):
        with _open_lock(port) as lock:
            if _is_locked(lock) and not is_open(port):
                yield port
                return
    raise BotNotStarted(PORT_TAKEN.format(wanted[0]))


@contextmanager
def _open_lock(port: int) -> Iterator[int | None]:
    """Open the file whose lock reserves a port. Yield None if that is not possible: others may have made the file.

    It need only be readable, so accounts of a machine can share it.
    """
    path = Path(tempfile.gettempdir(), f"referee-port-{port}.lock")
    try:
        with suppress(FileExistsError):
            path.touch(exist_ok=False)
            path.chmod(0o644)
        lock = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        yield None
        return
    try:
        yield lock
    finally:
        os.close(lock)


def _is_reserved(port: int) -> bool:
    with _open_lock(port) as lock:
        return not _is_locked(lock)


def _is_locked(lock: int | None) -> bool:
    """Lock an open file for this process, and return whether that was possible. Without a file, nobody else has it."""
    if lock is None:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _stopped_after(processes: list[BotProcess]) -> Iterator[list[BotProcess]]:
    """Yield the list, and stop all bots in it after the block, also if a signal ends this process."""
    # Signals that would kill this process raise ``SystemExit``, so that started bots are stopped first. Handlers other
    # than the default are kept.
    fatal = [number for number in STOP_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    with _signal_handlers(fatal, _exit):
        try:
            yield processes
        finally:
            _stop(processes)


@contextmanager
def _signal_handlers(numbers: Sequence[signal.Signals], handler: Handler) -> Iterator[None]:
    """Handle these signals with ``handler`` while the block runs. Do nothing outside the main thread."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, handler) for number in numbers if is_main}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _stop(processes: Sequence[BotProcess]) -> None:
    """Stop all bots and their child processes concurrently, and ignore stop signals to this process meanwhile."""
    with _signal_handlers((signal.SIGINT, *STOP_SIGNALS), signal.SIG_IGN):
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in processes:
                process.send_signal(number)
            moment = time.monotonic() + STOP_TIMEOUT_S
            for process in processes:
                process.wait_until(moment)
        for process in processes:
            process.output.end(POLL_S)


def _start(file: Path, port: int, secret: str, copy_to: int | None = None, host: str = LOOPBACK) -> BotProcess:
    own = {"HOST": host, "PORT": str(port), "PYTHONUNBUFFERED": "1"}
    own |= {"REFEREE_BOT_SECRET": secret} if secret else {}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE)}
    try:
        process = subprocess.Popen(
            [*_command(file), str(port)],
            cwd=file.parent,
            env=inherited | own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # its own process group, so that its child processes end with it
            preexec_fn=parent_death.make_preexec(signal.SIGTERM),
        )
    except OSError as error:
        hint = HINTS.get(error.errno or 0, "")
        raise BotNotStarted(f"{file} cannot be started: {error.strerror}{hint}") from error
    assert process.stdout is not None, "a pipe was requested"
    return BotProcess(file, port, process, OutputTail(process.stdout, copy_to))


def _command(file: Path) -> list[str]:
    """Return the command that runs the file, by its extension.

    Without a known extension, the file itself is run. Raise ``BotNotStarted`` if the file does not exist or cannot be
    run.
    """
    if not file.is_file():
        raise BotNotStarted(f"The file {file} does not exist.")
    path = str(file.resolve())
    if file.suffix in RUNNERS:
        (tool, *arguments), language = RUNNERS[file.suffix]
        found = shutil.which(tool)
        if found is None:
            raise BotNotStarted(f"{file} needs {language}, but {tool!r} is not on PATH.")
        return [found, *arguments, path]
    if not os.access(file, os.X_OK):
        known = ", ".join(RUNNERS)
        raise BotNotStarted(
            f"{file} is not a program: its extension is none of {known}, and it is not executable (chmod +x)."
        )
    return [path]


def _wait_until_listening(bot: BotProcess, say: Say) -> None:
    """Wait until the bot listens. After ``SLOW_START_S``, say so once.

    Raise ``BotNotStarted`` if it exits, even if another program answers on its port, or if it takes too long.
    """
    started = time.monotonic()
    slow, give_up = started + SLOW_START_S, started + START_TIMEOUT_S
    while True:
        listens, status = bot.listens(), bot.process.poll()
        if status is not None:
            raise BotNotStarted(f"{bot.file} exited with status {status} before it listened. It wrote:\n{bot.tail()}")
        if listens:
            return
        if time.monotonic() > give_up:
            raise BotNotStarted(
                f"{bot.file} does not listen on port {bot.port}, which it was given in $PORT and as its first "
                f"argument, and printed no http://127.0.0.1:PORT within {START_TIMEOUT_S:.0f} s. It wrote:\n"
                f"{bot.tail()}"
            )
        if time.monotonic() > slow:
            slow = give_up + 1
            say(
                f"waiting for {bot.file} to listen on port {bot.port} (its first argument and $PORT); "
                f"given up after {START_TIMEOUT_S:.0f} s …"
            )
        time.sleep(POLL_S)


def is_open(port: int) -> bool:
    """Return whether a program on this machine accepts connections on ``port``."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_ports(count: int) -> list[int]:
    """Return ``count`` different free ports, by keeping all of them open until the last one is found."""
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [int(listener.getsockname()[1]) for listener in listeners]
